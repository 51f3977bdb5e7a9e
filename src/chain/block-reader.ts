import type { PublicClient } from 'viem'
import type { BlockHeader, PlacedEvent } from '../domain/block.js'
import type { Address, Hex } from '../domain/hex.js'
import { type RawHeader, type TimedHeader, toHeader } from './headers.js'
import { type ContractNews, type RawLog, readLogs } from './order-events.js'
import { createSettlement } from './settlement.js'

/** A node's answers contradict each other, or lack what it must have: it lags, or its chain has just changed. */
export class InconsistentAnswerError extends Error {
  override readonly name = 'InconsistentAnswerError'
}

/** A block with what its logs say. */
export interface Block extends ContractNews {
  readonly header: TimedHeader
}

/** A range of blocks, by its last one, with what all its logs say. */
export interface BlockRange extends ContractNews {
  readonly end: BlockHeader
}

/** Reads blocks and the settlement contract's events from one endpoint; throws viem's errors when it fails. */
export interface BlockReader {
  head(): Promise<TimedHeader>
  /** @throws InconsistentAnswerError when the node does not have the block; here and below */
  header(number: number): Promise<TimedHeader>
  /** Headers from one number to another, both included, in order and linked. */
  headers(from: number, to: number): Promise<TimedHeader[]>
  headerOf(hash: Hex): Promise<TimedHeader>
  /** Number of the last final block; undefined where the chain does not tell. */
  finalized(): Promise<number | undefined>
  /** What happened in these very blocks: their logs are asked for by hash (EIP-234). */
  blocks(headers: readonly TimedHeader[]): Promise<Block[]>
  /** What happened from one number to another, both included: for blocks that are old enough to stay. */
  range(from: number, to: number): Promise<BlockRange>
  /** The events with the solver of each refund, which the contract's event does not name. */
  withSolvers(events: readonly PlacedEvent[], atBlock: number): Promise<PlacedEvent[]>
}

/** Builds the reader of a chain's settlement contract at one endpoint. */
export function createBlockReader(client: PublicClient, chainId: number, address: Address): BlockReader {
  const settlement = createSettlement(client, chainId, address)

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

  async function block(of: TimedHeader): Promise<Block> {
    const filter = { address, blockHash: of.hash }
    const logs = (await client.request({ method: 'eth_getLogs', params: [filter] })) as RawLog[]
    if (logs.some(({ blockHash }) => blockHash !== of.hash))
      throw new InconsistentAnswerError(`block ${of.number} came with logs of another one`)
    return { header: of, ...readLogs(chainId, logs) }
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
    headerOf: (hash) => readHeader('eth_getBlockByHash', hash),
    finalized: () =>
      readHeader('eth_getBlockByNumber', 'finalized').then(
        ({ number }) => number,
        () => undefined,
      ),
    blocks: (headers) => Promise.all(headers.map(block)),

    async range(from, to) {
      const filter = { address, fromBlock: toQuantity(from), toBlock: toQuantity(to) }
      // In one request: a node that does not have the last block yet would answer with the logs that it has.
      const [end, answer] = await Promise.all([
        header(to),
        client.request({ method: 'eth_getLogs', params: [filter] }),
      ])
      const logs = answer as RawLog[]
      const isTrusted = logs.every(({ blockNumber, blockHash }) => {
        const number = Number(blockNumber)
        return number >= from && (number < to || (number === to && blockHash === end.hash))
      })
      if (!isTrusted) throw new InconsistentAnswerError(`blocks ${from} to ${to} came with logs of others`)
      const news = readLogs(chainId, logs)
      return { end, ...news }
    },

    async withSolvers(events, atBlock) {
      return Promise.all(
        events.map(async (placed) => {
          const { event } = placed
          if (event.solver !== undefined) return placed
          const order = await settlement.readOrder(event.orderId, { blockNumber: BigInt(atBlock) })
          return order.state === 'NONE' ? placed : { ...placed, event: { ...event, solver: order.solver } }
        }),
      )
    },
  }
}

function toQuantity(number: number): Hex {
  return `0x${number.toString(16)}`
}
