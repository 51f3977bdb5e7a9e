import { type PublicClient, toEventSelector } from 'viem'
import type { Hex } from '../../../packages/protocol/src/values/hex.js'
import { createBlockReader } from '../../../src/chain/logs/block-reader.js'
import { createManualClock } from '../../support/manual-clock.js'
import { bloomOf } from '../../support/model-chain/bloom.js'
import { only } from '../../support/only.js'

// biome-ignore lint/suspicious/noExplicitAny: the shapes that nodes answer in
export type Odd = any

const SETTLEMENT: Hex = `0x${'5e'.repeat(20)}`
const SETTLED = toEventSelector('Settled(bytes32,address,address)')
export const WITH_EVENTS = 5
export const word = (number: number): Hex => `0x${number.toString(16).padStart(64, '0')}`

function logAt(number: number, index: number, address = SETTLEMENT): Odd {
  return {
    address,
    blockNumber: `0x${number.toString(16)}`,
    blockHash: word(number),
    transactionHash: word(100 + index),
    transactionIndex: `0x${index.toString(16)}`,
    logIndex: `0x${index.toString(16)}`,
    topics: [SETTLED, word(200 + index), word(1), word(2)],
    data: '0x',
    removed: false,
  }
}

/** Of block 5 and each above 100 two events of the contract, of every block a log of another one. */
export function logsOf(number: number): Odd[] {
  const events = number === WITH_EVENTS || number > 100 ? [logAt(number, 0), logAt(number, 1)] : []
  return [...events, logAt(number, events.length, `0x${'0c'.repeat(20)}`)]
}

export function blockOf(number: number): Odd {
  return {
    number: `0x${number.toString(16)}`,
    hash: word(number),
    parentHash: word(number - 1),
    timestamp: '0x64',
    receiptsRoot: word(9),
    logsBloom: bloomOf(logsOf(number)),
    transactions: logsOf(number).map(({ transactionHash }) => transactionHash),
  }
}

const receiptsOf = (number: number): Odd[] =>
  logsOf(number).map((log) => ({ blockHash: word(number), logsBloom: bloomOf([log]), logs: [log] }))

interface Shapes {
  /** Changes the answer to a request for a block; the number is that of the block which was asked for. */
  readonly block?: (block: Odd, number: number) => Odd
  readonly logs?: (logs: Odd[], filter: Odd) => Odd
  readonly receipts?: (receipts: Odd[]) => Odd
}

/** The reader of a node whose last block is 8, and the methods that it has called. */
export function createTestReader(
  { block = (it) => it, logs = (it) => it, receipts = () => null }: Shapes,
  others: readonly PublicClient[] = [],
) {
  const calls: string[] = []
  const answers: Record<string, (param: Odd) => Odd> = {
    eth_getBlockByNumber: (name) => block(blockOf(name === 'latest' ? 8 : Number(name)), Number(name)),
    eth_getBlockByHash: (hash) => block(blockOf(Number(hash)), Number(hash)),
    eth_getLogs(filter) {
      const { blockHash, fromBlock = blockHash, toBlock = blockHash } = filter
      const [from, to] = [Number(fromBlock), Number(toBlock)]
      const all = Array.from({ length: to - from + 1 }, (_, index) => logsOf(from + index)).flat()
      return logs(
        all.filter((log) => log.address === SETTLEMENT),
        filter,
      )
    },
    eth_getBlockReceipts: (hash) => receipts(receiptsOf(Number(hash))),
  }
  const request = async ({ method, params: [param] }: Odd) => {
    calls.push(method)
    return answers[method]?.(param)
  }
  const readContract = async () => {
    throw Object.assign(new Error('the node has no state'), { code: -32000 })
  }
  const client = only<PublicClient>({ request, readContract })
  const reader = createBlockReader(client, 1, SETTLEMENT, {
    others,
    clock: { ...createManualClock(), sleep: async () => {} },
    knownSolvers: async () => new Map(),
  })
  return { reader, client, calls }
}

/** Reads all blocks, in two steps. */
export async function read(shapes: Shapes, others?: readonly PublicClient[]) {
  const { reader } = createTestReader(shapes, others)
  const head = await reader.head()
  const headers = [...(await reader.headers(1, 4)), ...(await reader.headers(5, 7)), head]
  const blocks = await reader.blocks(headers)
  return {
    numbers: blocks.map(({ header }) => header.number),
    orders: blocks.flatMap(({ events }) => events.map(({ event }) => Number(event.orderId))),
    indices: blocks.flatMap(({ events }) => events.map(({ event }) => event.logIndex)),
    proven: blocks.filter(({ isProven }) => isProven).map(({ header }) => header.number),
  }
}

export const EVENTS = { numbers: [1, 2, 3, 4, 5, 6, 7, 8], orders: [200, 201] }
