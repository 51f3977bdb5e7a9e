import type { PublicClient } from 'viem'
import { decodeLogs } from '../../packages/protocol/src/deployed-settlement.js'
import type { DecodedLogs } from '../../packages/protocol/src/settlement.js'
import type { BlockHeader } from '../domain/block.js'
import { type Address, type Hex, toQuantity } from '../domain/hex.js'
import {
  type AttachOptions,
  type AttachOrders,
  type AttachOrdersOptions,
  createAttachOrders,
} from './attach-orders.js'
import { createBlockLogsReader } from './block-logs.js'
import { addBlockTimes, withTime } from './block-times.js'
import { type RawHeader, type TimedHeader, toHeader } from './headers.js'
import { InconsistentAnswerError } from './inconsistent-answer.js'
import { checkedLogs } from './log-answer.js'
import { createRangeLogsReader } from './range-logs.js'
import { verifyChainId } from './verify-chain-id.js'

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
  /** Verifies that the endpoint still serves this chain. @throws ChainConfigError when it does not */
  verifyChainId(): Promise<void>
  head(): Promise<TimedHeader>
  /** @throws InconsistentAnswerError when the node does not have the block; also the methods below */
  header(number: number): Promise<TimedHeader>
  /** The headers from one number to another, both included, in order and linked. */
  headers(from: number, to: number): Promise<TimedHeader[]>
  /** The header of the block with this hash. */
  headerOf(hash: Hex): Promise<TimedHeader>
  /** The decoded logs of exactly these blocks, requested by block hash (EIP-234). */
  blocks(headers: readonly TimedHeader[], options?: AttachOptions): Promise<Block[]>
  /** The decoded logs from one number to another, both included, for blocks too old to be reorganised. */
  range(from: number, to: number): Promise<BlockRange>
  /** The numbers of the blocks with logs, from one number to another, both included. One call; nothing is proved. */
  blocksWithLogs(from: number, to: number): Promise<number[]>
  /** Adds what the contract has of orders and the events do not say. */
  attachOrders: AttachOrders
}

interface BlockReaderOptions extends Pick<AttachOrdersOptions, 'knownSolvers'> {
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
  { others = [], pause, knownSolvers }: BlockReaderOptions,
): BlockReader {
  const clients = [client, ...others] as const
  const readBlockLogs = createBlockLogsReader(clients, address, pause)
  const attachOrders = createAttachOrders({ clients, chainId, address, knownSolvers })
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
    const decoded = decodeLogs(chainId, logs)
    const events = decoded.events.map((source) => withTime(source, header))
    return { header, isProven, ...decoded, events }
  }

  return {
    verifyChainId: () => verifyChainId(client, chainId),
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
    async blocks(headers, options) {
      const blocks = await Promise.all(headers.map(block))
      const attached = await attachOrders(
        blocks.flatMap(({ events }) => events),
        options,
      )
      let start = 0
      return blocks.map((read) => {
        const events = attached.slice(start, start + read.events.length)
        start += read.events.length
        return { ...read, events }
      })
    },

    async range(from, to) {
      const { end, headers, logs } = await readRangeLogs(from, to)
      const decoded = decodeLogs(chainId, logs)
      return { end, ...decoded, events: await addBlockTimes(decoded.events, headers, header) }
    },

    async blocksWithLogs(from, to) {
      const filter = { address, fromBlock: toQuantity(from), toBlock: toQuantity(to) }
      const logs = checkedLogs(await client.request({ method: 'eth_getLogs', params: [filter] }), address)
      return logs.map(({ blockNumber }) => Number(blockNumber))
    },

    attachOrders,
  }
}
