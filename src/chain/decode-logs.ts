import { toEventSelector } from 'viem'
import { settlementAbi } from '../../gen/contracts/settlement.js'
import type { EventWithPosition } from '../domain/block.js'
import type { OrderEvent } from '../domain/event.js'
import { type Address, type Hex, isQuantity, lowerCase } from '../domain/hex.js'

/** The time of an event whose node has not sent it. block-times.ts sets the time of its block. */
export const UNKNOWN_TIME = 0

/** A log in JSON-RPC form. */
export interface RawLog {
  readonly address: Address
  /** True when a reorganisation has removed the log's block. */
  readonly removed?: boolean
  readonly blockNumber: Hex
  readonly blockHash: Hex
  /** Unix time in seconds; many nodes leave it out. */
  readonly blockTimestamp?: unknown
  readonly transactionHash: Hex
  readonly logIndex: Hex
  readonly topics: readonly Hex[]
  readonly data: Hex
}

/** Decoded logs of the settlement contract. */
export interface DecodedLogs {
  /** In the order of the chain. */
  readonly events: readonly EventWithPosition[]
  /** The solvers that changed their own bond, in lower case. Order events name the solvers whose reserved bond changes. */
  readonly bondedSolvers: ReadonlySet<Address>
  readonly cancelledNonces: readonly SolverNonce[]
}

/** A nonce of a solver's quotes. */
export interface SolverNonce {
  /** Lower case. */
  readonly solver: Address
  readonly nonce: bigint
}

type EventItem = Extract<(typeof settlementAbi)[number], { type: 'event' }>

const EVENT_ITEMS = settlementAbi.filter((item): item is EventItem => item.type === 'event')
const NAMES = new Map(EVENT_ITEMS.map((item) => [toEventSelector(item), item.name]))
const WORD_DIGITS = 64
const BOND_EVENTS = new Set<string | undefined>([
  'SolverRegistered',
  'BondAdded',
  'UnstakeRequested',
  'UnstakeCancelled',
  'UnstakeExecuted',
])
const READ_EVENTS = new Set([...BOND_EVENTS, 'NonceCancelled', 'Deposited', 'Settled', 'Refunded'])
/** The first topics of all logs that are read: Keccak-256 of the events' signatures. */
export const READ_TOPICS: readonly Hex[] = [...NAMES].flatMap(([topic, name]) =>
  READ_EVENTS.has(name) ? [topic] : [],
)

/**
 * Decodes logs of the settlement contract. It ignores events that are not in docs/protocol.md, "Contract events".
 * @throws Error when the data has not the length that its event requires
 */
export function decodeLogs(chainId: number, logs: readonly RawLog[]): DecodedLogs {
  const events: EventWithPosition[] = []
  const bondedSolvers = new Set<Address>()
  const cancelledNonces: SolverNonce[] = []
  for (const log of logs) {
    const name = NAMES.get(log.topics[0] ?? '0x')
    const [, firstTopic = '0x'] = log.topics
    if (BOND_EVENTS.has(name)) bondedSolvers.add(addressOf(firstTopic))
    if (name === 'NonceCancelled') {
      const [nonce] = words(log.data, 1)
      cancelledNonces.push({ solver: addressOf(firstTopic), nonce: BigInt(nonce) })
    }
    const event = readOrderEvent(chainId, name, log)
    if (event !== undefined) events.push({ event, blockHash: log.blockHash })
  }
  return { events: events.sort(byPosition), bondedSolvers, cancelledNonces }
}

function byPosition(a: EventWithPosition, b: EventWithPosition): number {
  return a.event.blockNumber - b.event.blockNumber || a.event.logIndex - b.event.logIndex
}

function readOrderEvent(chainId: number, name: string | undefined, log: RawLog): OrderEvent | undefined {
  const [, orderId = '0x', user = '0x', solver = '0x'] = log.topics
  const base = {
    chainId,
    orderId: lowerCase(orderId),
    user: addressOf(user),
    blockNumber: Number(log.blockNumber),
    logIndex: Number(log.logIndex),
    transactionHash: lowerCase(log.transactionHash),
    blockTime: timeOf(log),
  }
  switch (name) {
    case 'Deposited': {
      const [inputToken, inputAmount, outputToken, outputAmount, fillDeadline] = words(log.data, 5)
      return {
        type: 'Deposited',
        ...base,
        solver: addressOf(solver),
        inputToken: addressOf(inputToken),
        inputAmount: BigInt(inputAmount),
        outputToken: addressOf(outputToken),
        outputAmount: BigInt(outputAmount),
        fillDeadline: Number(fillDeadline),
      }
    }
    case 'Settled':
      return { type: 'Settled', ...base, solver: addressOf(solver) }
    case 'Refunded': {
      const [inputAmount, bondSlashed] = words(log.data, 2)
      const amounts = { inputAmount: BigInt(inputAmount), bondSlashed: BigInt(bondSlashed) }
      return { type: 'Refunded', ...base, solver: undefined, ...amounts }
    }
  }
  return undefined
}

/** The time in a log, if the node sends it as the JSON-RPC specification says; otherwise zero, as some nodes send. */
function timeOf({ blockTimestamp }: RawLog): number {
  return isQuantity(blockTimestamp) ? Number(blockTimestamp) : UNKNOWN_TIME
}

/** The members of an event that are not indexed. Each of them fills one word of 32 bytes. */
function words<N extends keyof Words>(data: Hex, count: N): Words[N] {
  if (data.length !== 2 + count * WORD_DIGITS) throw new Error(`event data has ${data.length} hex digits`)
  const starts = Array.from({ length: count }, (_, index) => 2 + index * WORD_DIGITS)
  return starts.map((start) => `0x${data.slice(start, start + WORD_DIGITS)}`) as Words[N]
}

interface Words {
  readonly 1: [Hex]
  readonly 2: [Hex, Hex]
  readonly 5: [Hex, Hex, Hex, Hex, Hex]
}

/** The last 20 bytes of a word. */
function addressOf(word: Hex): Address {
  return lowerCase(`0x${word.slice(-40)}`)
}
