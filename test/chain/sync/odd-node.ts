import type { PublicClient } from 'viem'
import { createBlockReader } from '../../../src/chain/logs/block-reader.js'
import { createManualClock } from '../../support/manual-clock.js'
import { BASE_FEE, createModelChain } from '../../support/model-chain/model-chain.js'
import { createModelNode, toBlock } from '../../support/model-chain/model-node.js'
import { only } from '../../support/only.js'
import { ANY_ORDERS, OTHER_CONTRACT, SETTLEMENT, word } from './any-orders.js'

// biome-ignore lint/suspicious/noExplicitAny: the shapes that nodes answer in
export type Odd = any

const HEAD = 8
/** The node has later blocks too. */
const LAST = 400
export const WITH_EVENTS = 5

const chain = createModelChain(ANY_ORDERS, SETTLEMENT, 100)
// Block 5 and each above 100 have two events of the contract, and every block has a log of another one.
for (let number = 1; number <= LAST; number++) {
  if (number === WITH_EVENTS || number > 100)
    for (const order of [200, 202]) chain.act(SETTLEMENT, SETTLEMENT, word(order))
  chain.act(SETTLEMENT, OTHER_CONTRACT, word(2 * number))
  chain.mine(100)
}

export const blockOf = (number: number): Odd => toBlock(chain.blocks[number], BASE_FEE)

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
  const node = createModelNode(chain, 1)
  const calls: string[] = []
  const shapes: Record<string, (answer: Odd, param: Odd) => Odd> = {
    eth_getBlockByNumber: (answer, name) => block(name === 'latest' ? blockOf(HEAD) : answer, Number(name)),
    eth_getBlockByHash: block,
    eth_getLogs: logs,
    eth_getBlockReceipts: receipts,
  }
  async function request(call: { readonly method: string; readonly params: readonly Odd[] }) {
    calls.push(call.method)
    return shapes[call.method]?.(await node.request(call), call.params[0])
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

export const EVENTS = { numbers: [1, 2, 3, 4, 5, 6, 7, 8], orders: [200, 202] }
