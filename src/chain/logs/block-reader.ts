import type { PublicClient } from 'viem'
import type { ContractPlace } from '../../../packages/chain/src/contract/verify-contract.js'
import type { Clock } from '../../../packages/protocol/src/clock.js'
import { watchContract } from '../../../packages/protocol/src/node/judge-block.js'
import { isNodeAnswer } from '../../../packages/protocol/src/node/node-answer.js'
import {
  headerIn,
  InconsistentAnswerError,
  type TimedHeader,
  wordIn,
} from '../../../packages/protocol/src/node/parse-blocks.js'
import type { BlockHeader, EventWithPosition } from '../../../packages/protocol/src/orders/block.js'
import { type DecodedLogs, UNKNOWN_TIME } from '../../../packages/protocol/src/settlement/settlement.js'
import { settlementOf } from '../../../packages/protocol/src/settlement/settlement-of-chain.js'
import { type Hex, toQuantity } from '../../../packages/protocol/src/values/hex.js'
import { verifyChainId } from '../contract/verify-endpoint.js'
import type { EventSink } from '../event-sink.js'
import { createAttachOrders } from './attach-orders.js'
import { createBlockLogsReader } from './block-logs.js'
import { createRangeLogsReader } from './range-logs.js'

/** A block with its decoded logs. */
export interface Block extends DecodedLogs {
  readonly header: TimedHeader
  /** Whether the node has proved that no log of the block is missing. */
  readonly isProven: boolean
}

/** A range of blocks, identified by its last block, with its decoded logs. */
export interface BlockRange extends DecodedLogs {
  readonly end: BlockHeader
}

/** A range with the header of its first block, whose parent links it to the local chain. */
export interface LinkedRange extends BlockRange {
  readonly first: TimedHeader
}

/** A header as a node has pushed it. */
interface PushedHeader {
  readonly hash?: unknown
}

/** Reads blocks and the settlement contract's events from one endpoint. Its methods throw viem's errors. */
export type BlockReader = ReturnType<typeof createBlockReader>

interface BlockReaderOptions {
  /** Clients of the chain's other endpoints, which are asked for logs that the first endpoint may lack. */
  readonly others?: readonly PublicClient[]
  /** The solvers of those of some orders whose terms are known. */
  readonly knownSolvers: EventSink['knownSolvers']
  readonly clock: Clock
}

/** Numbers without a block that may follow each other. */
const MAX_NULL_ROUNDS = 20

/** Builds the reader of a chain's settlement contract at one endpoint. */
export function createBlockReader(
  client: PublicClient,
  place: ContractPlace,
  { others = [], clock, knownSolvers }: BlockReaderOptions,
) {
  const { chainId, settlement } = place
  const clients = [client, ...others] as const
  const contract = settlementOf(chainId)
  const blockLogs = createBlockLogsReader(clients, watchContract(settlement, contract.READ_TOPICS), clock)
  const attachOrders = createAttachOrders(clients, place, knownSolvers)
  const readRangeLogs = createRangeLogsReader(client, settlement, header, blockLogs)
  let headNumber = -1

  async function readHeader(method: 'eth_getBlockByNumber' | 'eth_getBlockByHash', name: string | number) {
    const block = typeof name === 'number' ? toQuantity(name) : name
    const found = headerIn(await client.request({ method, params: [block as Hex, false] }), String(name))
    if (name === 'latest' || name === found.number || name === found.hash) return found
    throw new InconsistentAnswerError(
      `block ${name} came as ${found.number} with hash ${found.hash}`,
      'number',
    )
  }

  const headerAt = (number: number) => readHeader('eth_getBlockByNumber', number)
  const findAt = (number: number) => headerAt(number).catch(nothingFrom)
  const headerOf = (hash: Hex) => readHeader('eth_getBlockByHash', hash)

  async function head(pushed: PushedHeader = {}): Promise<TimedHeader> {
    const hash = wordIn(pushed.hash)
    const hinted = hash && (await headerOf(hash).catch(nothingFrom))
    const found = hinted ?? (await readHeader('eth_getBlockByNumber', 'latest'))
    headNumber = found.number
    return found
  }

  async function header(number: number): Promise<TimedHeader> {
    try {
      return await headerAt(number)
    } catch (error) {
      const repeated = number < headNumber ? await nullRound(number, error) : undefined
      if (repeated !== undefined) return repeated
      throw error
    }
  }

  /** @returns undefined unless the parent of the next block is below this number */
  async function nullRound(number: number, reason: unknown): Promise<TimedHeader | undefined> {
    nothingFrom(reason)
    // A node without its own head lags, or its head is not true.
    if ((await findAt(headNumber)) === undefined) headNumber = -1
    for (let next = number + 1; next <= Math.min(headNumber, number + MAX_NULL_ROUNDS); next++) {
      const after = await findAt(next)
      if (after === undefined) continue
      const before = await headerOf(after.parentHash).catch(nothingFrom)
      return before && before.number < number ? repeatedAs(number, before) : undefined
    }
    return undefined
  }

  async function block(header: TimedHeader): Promise<Block> {
    const { logs, isProven } = await blockLogs.read(header)
    const decoded = contract.decodeLogs(chainId, logs)
    const events = decoded.events.map((source) => withTime(source, header))
    return { header, isProven, ...decoded, events }
  }

  return {
    /** Verifies that the endpoint still serves this chain. @throws ChainConfigError when it does not */
    verifyChainId: (): Promise<void> => verifyChainId(client, chainId),
    /** The last block. @param pushed a header that the node has pushed: a hint which block to read */
    head,
    /**
     * The block with a number. For a number without a block (a null round), it is the block before, once more: with this number, and as
     * its own parent.
     * @throws InconsistentAnswerError when the node does not have the block; also the methods below
     */
    header,
    /** The headers from one number to another, both included, in order and linked. */
    async headers(from: number, to: number): Promise<TimedHeader[]> {
      const numbers = Array.from({ length: to - from + 1 }, (_, index) => from + index)
      const headers = await Promise.all(numbers.map(header))
      const isLinked = headers.every(({ parentHash }, i) => i === 0 || headers[i - 1]?.hash === parentHash)
      if (isLinked) return headers
      throw new InconsistentAnswerError(`the chain changed while blocks ${from} to ${to} were read`)
    },
    /** The header of the block with this hash. */
    headerOf,
    /** The decoded logs of exactly these blocks, requested by block hash (EIP-234). */
    async blocks(headers: readonly TimedHeader[], replacesEvents?: boolean): Promise<Block[]> {
      const blocks = await Promise.all(headers.map(block))
      const sources = blocks.flatMap(({ events }) => events)
      const attached = await attachOrders(sources, replacesEvents)
      let start = 0
      return blocks.map((read) => {
        const events = attached.slice(start, start + read.events.length)
        start += read.events.length
        return { ...read, events }
      })
    },

    /** The decoded logs from one number to another, both included, for blocks too old to be reorganised. */
    async range(from: number, to: number): Promise<BlockRange> {
      const { end, headers, logs } = await readRangeLogs(from, to)
      const decoded = contract.decodeLogs(chainId, logs)
      return { end, ...decoded, events: await addBlockTimes(decoded.events, headers, header) }
    },

    /** Adds what the contract has of orders and the events do not say. */
    attachOrders,
  }
}

/** A block once more, for a later number that has none. Both the block after it and the block itself link to it. */
export function repeatedAs(number: number, { hash, timestampMs }: TimedHeader): TimedHeader {
  return { number, hash, parentHash: hash, timestampMs, transactions: 0 }
}

/** @throws the error of a read, unless the node has answered that there is nothing */
function nothingFrom(error: unknown): undefined {
  if (error instanceof InconsistentAnswerError || isNodeAnswer(error)) return undefined
  throw error
}

/**
 * Adds the times of their blocks to the events of a range. Newer nodes send the time with each log. Some send zero, or
 * another unit. So times that contradict a known header are not used, and this reads one header for each block with events.
 * @param known headers of the range, with that of its last block
 * @throws InconsistentAnswerError when a block has left the chain; otherwise the errors of `readHeader`
 */
async function addBlockTimes(
  events: readonly EventWithPosition[],
  known: readonly TimedHeader[],
  readHeader: (number: number) => Promise<TimedHeader>,
): Promise<EventWithPosition[]> {
  const areTrusted = agreeWith(known)
  const missing = events.every(areTrusted)
    ? events.filter(({ event }) => event.blockTime === UNKNOWN_TIME)
    : events
  const headers = new Map(known.map((header) => [header.number, header]))
  const numbers = [...new Set(missing.map(({ event }) => event.blockNumber))].filter(
    (number) => !headers.has(number),
  )
  for (const header of await Promise.all(numbers.map(readHeader))) headers.set(header.number, header)
  return events.map((source) => {
    const header = headers.get(source.event.blockNumber)
    if (header === undefined) return source
    if (header.hash === source.blockHash) return withTime(source, header)
    throw new InconsistentAnswerError(`block ${header.number} has left the chain during the read`)
  })
}

/** Whether the time of an event can be true, if it has one: that of its header, or between zero and the last header's. */
function agreeWith(known: readonly TimedHeader[]): (source: EventWithPosition) => boolean {
  const times = new Map(known.map(({ number, timestampMs }) => [number, timestampMs / 1000]))
  const last = Math.max(...times.values())
  return ({ event: { blockNumber, blockTime } }) =>
    blockTime === UNKNOWN_TIME ||
    (blockTime > 0 && blockTime <= last && (times.get(blockNumber) ?? blockTime) === blockTime)
}

/** An event with the time of its block. */
function withTime(source: EventWithPosition, { timestampMs }: TimedHeader): EventWithPosition {
  return { ...source, event: { ...source.event, blockTime: timestampMs / 1000 } }
}
