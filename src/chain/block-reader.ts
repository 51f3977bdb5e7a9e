import type { PublicClient } from 'viem'
import type { BlockHeader, EventWithPosition } from '../domain/block.js'
import { type Address, type Hex, toQuantity } from '../domain/hex.js'
import { createBlockLogsReader } from './block-logs.js'
import { type DecodedLogs, decodeLogs } from './decode-logs.js'
import { type RawHeader, type TimedHeader, toHeader } from './headers.js'
import { InconsistentAnswerError } from './inconsistent-answer.js'
import { createRangeLogsReader } from './range-logs.js'
import { createSettlement } from './settlement.js'

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

/** Reads blocks and the settlement contract's events from one endpoint. Its methods throw viem's errors. */
export interface BlockReader {
  head(): Promise<TimedHeader>
  /** @throws InconsistentAnswerError when the node does not have the block; also the methods below */
  header(number: number): Promise<TimedHeader>
  /** The headers from one number to another, both included, in order and linked. */
  headers(from: number, to: number): Promise<TimedHeader[]>
  /** The header of the block with this hash. */
  headerOf(hash: Hex): Promise<TimedHeader>
  /** Number of the last final block; undefined when the chain does not report it. */
  finalized(): Promise<number | undefined>
  /**
   * The decoded logs of exactly these blocks, requested by block hash (EIP-234).
   * @param stateBlock number of the block as of which the solvers of refunds are read
   */
  blocks(headers: readonly TimedHeader[], stateBlock: number): Promise<Block[]>
  /** The decoded logs from one number to another, both included, for blocks too old to be reorganised. */
  range(from: number, to: number): Promise<BlockRange>
  /** Adds the solver to each refund, because the contract's event does not have it. */
  attachSolvers(events: readonly EventWithPosition[], stateBlock: number): Promise<EventWithPosition[]>
}

interface BlockReaderOptions {
  /** Clients of the chain's other endpoints, which are asked for logs that the first endpoint may lack. */
  readonly others?: readonly PublicClient[]
  /** Waits for this number of milliseconds before logs are requested once more. */
  readonly pause?: (ms: number) => Promise<unknown>
}

/** Builds the reader of a chain's settlement contract at one endpoint. */
export function createBlockReader(
  client: PublicClient,
  chainId: number,
  address: Address,
  { others = [], pause }: BlockReaderOptions = {},
): BlockReader {
  const settlement = createSettlement(client, chainId, address)
  const readBlockLogs = createBlockLogsReader([client, ...others], address, pause)
  const readRangeLogs = createRangeLogsReader(client, address, header, readBlockLogs)

  async function readHeader(method: 'eth_getBlockByNumber' | 'eth_getBlockByHash', block: string) {
    const raw = await client.request({ method, params: [block as Hex, false] })
    if (raw === null || raw.hash === null) throw new InconsistentAnswerError(`there is no block ${block}`)
    return toHeader(raw as RawHeader)
  }

  async function header(number: number): Promise<TimedHeader> {
    const found = await readHeader('eth_getBlockByNumber', toQuantity(number))
    if (found.number === number) return found
    throw new InconsistentAnswerError(`block ${number} came as ${found.number}`)
  }

  async function headerOf(hash: Hex): Promise<TimedHeader> {
    const found = await readHeader('eth_getBlockByHash', hash)
    if (found.hash === hash) return found
    throw new InconsistentAnswerError(`block ${hash} came as ${found.hash}`)
  }

  async function block(header: TimedHeader): Promise<Block> {
    const { logs, isProven } = await readBlockLogs(header)
    return { header, isProven, ...decodeLogs(chainId, logs) }
  }

  async function attachSolvers(
    events: readonly EventWithPosition[],
    stateBlock: number,
  ): Promise<EventWithPosition[]> {
    const attach = async (placed: EventWithPosition) => {
      const { event } = placed
      if (event.solver !== undefined) return placed
      const order = await settlement.readOrder(event.orderId, { blockNumber: BigInt(stateBlock) })
      return order.state === 'NONE' ? placed : { ...placed, event: { ...event, solver: order.solver } }
    }
    return Promise.all(events.map(attach))
  }

  return {
    head: () => readHeader('eth_getBlockByNumber', 'latest'),
    header,
    async headers(from, to) {
      const numbers = Array.from({ length: to - from + 1 }, (_, index) => from + index)
      const headers = await Promise.all(numbers.map(header))
      const isLinked = headers.every(({ parentHash }, i) => i === 0 || headers[i - 1]?.hash === parentHash)
      if (isLinked) return headers
      throw new InconsistentAnswerError(`the chain changed while blocks ${from} to ${to} were read`)
    },
    headerOf,
    finalized: () =>
      readHeader('eth_getBlockByNumber', 'finalized').then(
        ({ number }) => number,
        () => undefined,
      ),
    async blocks(headers, stateBlock) {
      const blocks = await Promise.all(headers.map(block))
      return Promise.all(
        blocks.map(async (read) => ({ ...read, events: await attachSolvers(read.events, stateBlock) })),
      )
    },

    async range(from, to) {
      const { end, logs } = await readRangeLogs(from, to)
      return { end, ...decodeLogs(chainId, logs) }
    },

    attachSolvers,
  }
}
