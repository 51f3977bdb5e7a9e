import { isDeepStrictEqual } from 'node:util'
import { createPublicClient, type GetLogsReturnType, http, parseAbi } from 'viem'
import type { TestChain } from '../chain/chain.js'

interface OrderMessage {
  chainId: number
  orderId: string
  blockNumber: number
  transactionHash: string
  logIndex: number
  /** Unix time in seconds. */
  blockTime: number
  cursor?: string
}

/** An order event as subscribers get it (docs/protocol.md, "Event messages"). */
export type EventMessage =
  | (OrderMessage & {
      type: 'Deposited'
      user: string
      solver: string
      inputToken: string
      inputAmount: string
      outputToken: string
      outputAmount: string
      fillDeadline: number
    })
  | (OrderMessage & { type: 'Settled'; user: string; solver: string })
  | (OrderMessage & { type: 'Refunded'; user: string; inputAmount: string; bondSlashed: string })

/** An event removed by a reorganisation (docs/decisions.md, D9). */
export interface RevertedMessage extends OrderMessage {
  type: 'Reverted'
  event: EventMessage['type']
}

/** How the chains of the instance are. It comes only when the request has `health`. */
export interface HealthMessage {
  type: 'Health'
  chains: {
    chainId: number
    status: 'ok' | 'syncing' | 'down'
    headBlock?: number
    lagMs?: number
    activeSolvers: number
  }[]
  cursor?: string
}

/** Any message to a subscriber. */
export type StreamMessage =
  | EventMessage
  | RevertedMessage
  | HealthMessage
  | { type: 'connected'; supportedChains: number[]; cursor?: string }

/** Whether a message reports what happened to an order. */
export function isEvent(message: StreamMessage): message is EventMessage | RevertedMessage {
  return message.type !== 'connected' && message.type !== 'Health'
}

/** Anvil answers in one piece: the answer for fifty chatty blocks is 15 MB. */
const BLOCKS_A_CALL = 50

/** The order events of docs/protocol.md, "Contract events". */
const events = parseAbi([
  'event Deposited(bytes32 indexed orderId, address indexed user, address indexed solver, address inputToken, uint256 inputAmount, address outputToken, uint256 outputAmount, uint32 fillDeadline)',
  'event Settled(bytes32 indexed orderId, address indexed user, address indexed solver)',
  'event Refunded(bytes32 indexed orderId, address indexed user, uint256 inputAmount, uint256 bondSlashed)',
])

/**
 * The messages that follow from the chain: in the order of the chain, without cursors.
 * @param chain only its `settlement` contract is read
 * @param toBlock included; default the last block
 */
export async function expectedMessages(
  chain: Pick<TestChain, 'devnet' | 'chainId'> & { contracts: Pick<TestChain['contracts'], 'settlement'> },
  fromBlock = 0,
  toBlock?: number,
): Promise<EventMessage[]> {
  const client = createPublicClient({ transport: http(chain.devnet.rpcUrl, { maxResponseBodySize: false }) })
  const last = toBlock ?? Number(await client.getBlockNumber())
  const messages: EventMessage[] = []
  for (let from = fromBlock; from <= last; from += BLOCKS_A_CALL) {
    const to = Math.min(last, from + BLOCKS_A_CALL - 1)
    const range = { fromBlock: BigInt(from), toBlock: BigInt(to) }
    const { settlement: address } = chain.contracts
    const logs = await client.getLogs({ address, events, strict: true, ...range })
    logs.sort((a, b) => Number(a.blockNumber - b.blockNumber) || a.logIndex - b.logIndex)
    const times = new Map<bigint, number>()
    for (const blockNumber of new Set(logs.map((log) => log.blockNumber)))
      times.set(blockNumber, Number((await client.getBlock({ blockNumber })).timestamp))
    for (const log of logs) messages.push(messageOf(chain.chainId, log, times.get(log.blockNumber) ?? 0))
  }
  return messages
}

type OrderLog = GetLogsReturnType<undefined, typeof events, true>[number]

/** A message has the members of its event, amounts as decimal text. */
function messageOf(chainId: number, log: OrderLog, blockTime: number): EventMessage {
  const { orderId, ...members } = log.args
  const texts = Object.entries(members).map(([name, value]) => [
    name,
    typeof value === 'bigint' ? String(value) : value,
  ])
  return {
    type: log.eventName,
    chainId,
    orderId: orderId.toLowerCase(),
    blockNumber: Number(log.blockNumber),
    transactionHash: log.transactionHash,
    logIndex: log.logIndex,
    blockTime,
    ...Object.fromEntries(texts),
  }
}

/**
 * The canonical events after all messages, in the order in which they came, without cursors.
 * @param messages as one subscriber got them, without gaps; those of several chains may be mixed
 * @throws Error at a removal of anything but the latest canonical event of its chain
 */
export function standing(messages: readonly StreamMessage[]): EventMessage[] {
  const kept = new Map<number, EventMessage>()
  const placesByChain = new Map<number, number[]>()
  for (const [place, message] of messages.entries()) {
    if (!isEvent(message)) continue
    const places = placesByChain.get(message.chainId) ?? []
    placesByChain.set(message.chainId, places)
    if (message.type === 'Reverted') {
      const latestPlace = places.pop() ?? -1
      const latest = kept.get(latestPlace)
      const [reversion] = withoutCursors([message])
      if (latest === undefined || !isDeepStrictEqual(reversion, reversionsOf([latest])[0])) {
        throw new Error(
          `message ${place} removes ${JSON.stringify(message)}, the latest is ${JSON.stringify(latest)}`,
        )
      }
      kept.delete(latestPlace)
    } else {
      kept.set(place, message)
      places.push(place)
    }
  }
  return withoutCursors([...kept.values()])
}

/** Messages without their cursors, which the chain does not have. */
export function withoutCursors(messages: readonly StreamMessage[]): EventMessage[] {
  return messages.map(({ cursor: _, ...message }) => message as EventMessage)
}

/** The messages that remove these events, without cursors: the latest first. */
export function reversionsOf(events: readonly EventMessage[]): RevertedMessage[] {
  return events
    .toReversed()
    .map(({ type, chainId, orderId, blockNumber, transactionHash, logIndex, blockTime }) => ({
      type: 'Reverted',
      chainId,
      orderId,
      event: type,
      blockNumber,
      transactionHash,
      logIndex,
      blockTime,
    }))
}

/** The first place where two long lists differ, if any: a comparison of both would not be readable. */
export function firstDifference(received: readonly object[], expected: readonly object[]) {
  const length = Math.max(received.length, expected.length)
  for (let place = 0; place < length; place++) {
    const [got, wanted] = [received[place], expected[place]]
    if (!isDeepStrictEqual(got, wanted))
      return { place, got, wanted, received: received.length, expected: expected.length }
  }
  return undefined
}
