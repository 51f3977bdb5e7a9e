import type { PublicClient } from 'viem'
import { describe, expect, it } from 'vitest'
import { InconsistentAnswerError } from '../../../packages/protocol/src/node/parse-blocks.js'
import { createBlockReader } from '../../../src/chain/logs/block-reader.js'
import { IncompleteRangeError } from '../../../src/chain/logs/range-logs.js'
import { createManualClock } from '../../support/manual-clock.js'
import { EMPTY_TRIE_ROOT, ZERO_BLOOM } from '../../support/model-chain/bloom.js'
import { BASE_FEE, createModelChain } from '../../support/model-chain/model-chain.js'
import { createModelNode, toBlock } from '../../support/model-chain/model-node.js'
import { only } from '../../support/only.js'
import { ANY_ORDERS, OTHER_CONTRACT, SETTLEMENT, word } from './any-orders.js'

// biome-ignore lint/suspicious/noExplicitAny: the shapes that nodes answer in
type Odd = any

/** The node has 400 blocks, of which this one is the last that it tells of. */
const HEAD = '0x8'
const WITH_EVENTS = 5
const EVENTS = { numbers: [1, 2, 3, 4, 5, 6, 7, 8], orders: [200, 202] }

const chain = createModelChain(ANY_ORDERS, SETTLEMENT, 100)
// Block 5 and each above 100 have two events of the contract, and every block has a log of another one.
for (let number = 1; number <= 400; number++) {
  if (number === WITH_EVENTS || number > 100)
    for (const order of EVENTS.orders) chain.act(SETTLEMENT, SETTLEMENT, word(order))
  chain.act(SETTLEMENT, OTHER_CONTRACT, word(2 * number))
  chain.mine(100)
}

const blockOf = (number: number): Odd => toBlock(chain.blocks[number], BASE_FEE)

/** Changes of answers. The number is that of the block that was asked for. */
interface Shapes {
  readonly block?: (block: Odd, number: number) => Odd
  readonly logs?: (logs: Odd[], filter: Odd) => Odd
  readonly receipts?: (receipts: Odd[]) => Odd
}

/** The reader of a node with such answers, and the methods that it has called. */
function createTestReader(
  { block = (it) => it, logs = (it) => it, receipts = () => null }: Shapes,
  others: readonly PublicClient[] = [],
) {
  const node = createModelNode(chain, 1)
  const calls: string[] = []
  const shapes: Record<string, (answer: Odd, param: Odd) => Odd> = {
    eth_getBlockByNumber: (it, name) => block(it, Number(name)),
    eth_getBlockByHash: block,
    eth_getLogs: logs,
    eth_getBlockReceipts: receipts,
  }
  node.intercept(({ method, params: [param] = [] }, answer) => {
    calls.push(method)
    return shapes[method]?.(param === 'latest' ? answer([HEAD]) : answer(), param)
  })
  const client = only<PublicClient>({ request: node.request })
  const clock = { ...createManualClock(), sleep: async () => {} }
  const options = { others, clock, knownSolvers: async () => new Map() }
  return { reader: createBlockReader(client, { chainId: 1, settlement: SETTLEMENT }, options), client, calls }
}

/** Reads all blocks, in two steps. */
async function read(shapes: Shapes, others?: readonly PublicClient[]) {
  const { reader, calls } = createTestReader(shapes, others)
  const head = await reader.head()
  const headers = [...(await reader.headers(1, 4)), ...(await reader.headers(5, 7)), head]
  const blocks = await reader.blocks(headers)
  return {
    numbers: blocks.map(({ header }) => header.number),
    orders: blocks.flatMap(({ events }) => events.map(({ event }) => Number(event.orderId))),
    indices: blocks.flatMap(({ events }) => events.map(({ event }) => event.logIndex)),
    proven: blocks.filter(({ isProven }) => isProven).map(({ header }) => header.number),
    calls,
  }
}

const each = (change: (item: Odd, index: number) => Odd) => (items: Odd[]) => items.map(change)

it('logs are read by number where the node ignores the hash of a filter, and has no receipts', async () => {
  const logs = (found: Odd[], { blockHash }: Odd) => (blockHash === undefined ? found : [])
  expect(await read({ logs })).toMatchObject(EVENTS)
})

it('logs that are null where there are none, and have one index, are events in the order of their transactions', async () => {
  const logs = (found: Odd[]) =>
    found.length === 0 ? null : found.map((log) => ({ ...log, logIndex: '0x7' }))
  expect(await read({ logs })).toMatchObject({ ...EVENTS, indices: [0, 1] })
})

it.each<[string, object]>([
  ['with the number of another block', { blockNumber: '0x1' }],
  ['of another block', { blockHash: word(4) }],
])('logs %s are an error', async (_what, change) => {
  const logs = each((log) => ({ ...log, ...change }))
  await expect(read({ logs })).rejects.toThrow(InconsistentAnswerError)
  await expect(createTestReader({ logs }).reader.range(1, 7)).rejects.toThrow(InconsistentAnswerError)
})

it('logs that a node leaves out are read at another one', async () => {
  const { client } = createTestReader({})
  expect(await read({ logs: () => [] }, [client])).toMatchObject(EVENTS)
})

const isRange = ({ fromBlock, toBlock }: Odd) => fromBlock !== toBlock

describe('a range', () => {
  it.each<[string, (logs: Odd[]) => Odd[]]>([
    ['all logs', () => []],
    ['a log of its last block with some', (logs) => logs.slice(1)],
  ])('without %s is completed', async (_what, cut) => {
    const logs = (found: Odd[], filter: Odd) => (isRange(filter) ? cut(found) : found)
    const { events } = await createTestReader({ logs }).reader.range(1, 7)
    expect(events.map(({ event }) => Number(event.orderId))).toEqual(EVENTS.orders)
  })

  it.each<[string, (logs: Odd[]) => Odd[]]>([
    ['all logs', () => []],
    ['a part in the middle', (logs) => [...logs.slice(0, 60), ...logs.slice(-60)]],
  ])('of many blocks without %s is an error', async (_what, cut) => {
    const logs = (found: Odd[], filter: Odd) => (isRange(filter) ? cut(found) : found)
    const { reader, calls } = createTestReader({ logs })
    await expect(reader.range(1, 400)).rejects.toThrow(IncompleteRangeError)
    expect(calls.filter((method) => method === 'eth_getBlockByNumber').length).toBeLessThan(100)
  })

  it.each([undefined, '0x0', '0x1'])(
    'whose logs have the time %s has that of the header, which is read once',
    async (blockTimestamp) => {
      const { reader, calls } = createTestReader({ logs: each((log) => ({ ...log, blockTimestamp })) })
      const { events } = await reader.range(1, 400)
      expect(new Set(events.map(({ event }) => event.blockTime))).toEqual(new Set([100]))
      expect(calls.filter((method) => method === 'eth_getBlockByNumber').length).toBeLessThanOrEqual(400)
    },
  )
})

it.each<[string, (receipts: Odd[]) => Odd]>([
  ['null', () => null],
  ['with null for a log', each((receipt) => ({ ...receipt, logs: [null] }))],
  ['without logs in their lists', each((receipt) => ({ ...receipt, logs: [] }))],
  ['without the last transaction', (receipts) => receipts.slice(0, -1)],
  [
    'with logs that are not counted from 0',
    each((r, index) => ({ ...r, logs: r.logs.map((log: Odd) => ({ ...log, logIndex: index + 1 })) })),
  ],
  ['of another block', each((receipt) => ({ ...receipt, blockHash: word(77) }))],
  [
    'with logs of another block',
    each((r) => ({ ...r, logs: r.logs.map((log: Odd) => ({ ...log, blockHash: word(77) })) })),
  ],
])('receipts that are %s mean that the logs are read', async (_what, receipts) => {
  const { calls, ...reading } = await read({ receipts })
  expect(reading).toMatchObject({ ...EVENTS, indices: [0, 1] })
  expect(calls).toContain('eth_getLogs')
})

it('a node that fails at receipts is not asked for them again', async () => {
  const receipts = () => {
    throw Object.assign(new Error('no such plan'), { code: -32000 })
  }
  const { reader, calls } = createTestReader({ receipts })
  for (let time = 0; time < 3; time++) await reader.blocks([await reader.header(WITH_EVENTS)])
  expect(calls.filter((method) => method === 'eth_getBlockReceipts')).toHaveLength(1)
})

it('blocks whose bloom filters have no event cost their headers alone once one with events was proven', async () => {
  const { reader, calls } = createTestReader({ receipts: (it) => it })
  await reader.blocks([await reader.header(WITH_EVENTS)])
  calls.length = 0
  await reader.blocks(await reader.headers(6, 8))
  expect(new Set(calls)).toEqual(new Set(['eth_getBlockByNumber']))
})

describe('a block is read', () => {
  it('with null for what is not needed', async () => {
    const block = (it: Odd) => ({
      ...it,
      timestamp: null,
      logsBloom: null,
      receiptsRoot: null,
      transactions: null,
    })
    expect(await read({ block })).toMatchObject(EVENTS)
  })

  const placeholders: readonly [string, object][] = [
    [
      'a bloom filter of zeros and the root of no receipts',
      { logsBloom: ZERO_BLOOM, receiptsRoot: EMPTY_TRIE_ROOT },
    ],
    ['the root of no receipts and no bloom filter', { logsBloom: null, receiptsRoot: EMPTY_TRIE_ROOT }],
    ['the bloom filter of another block', { logsBloom: blockOf(1).logsBloom, receiptsRoot: EMPTY_TRIE_ROOT }],
  ]
  it.each(placeholders)('%s proves nothing', async (_what, header) => {
    const noLogsYet = await read({ block: (block) => ({ ...block, ...header }), logs: () => [] })
    expect(noLogsYet).toMatchObject({ orders: [], proven: [] })
    expect(await read({ block: (block) => ({ ...block, ...header }) })).toMatchObject({
      ...EVENTS,
      proven: [],
    })
  })

  it('as proven when it has no transactions, without a request for logs', async () => {
    const asked: number[] = []
    const isEmpty = (number: number) => number !== WITH_EVENTS
    const block = (it: Odd) =>
      isEmpty(Number(it.number)) ? { ...it, logsBloom: ZERO_BLOOM, transactions: [] } : it
    const logs = (it: Odd[]) => {
      asked.push(it.length)
      return it
    }
    expect(await read({ block, logs })).toMatchObject({ ...EVENTS, proven: [1, 2, 3, 4, 6, 7, 8] })
    expect(asked).toEqual([2])
  })

  it('as proven by its bloom filter after the receipts of a block with logs have agreed with one', async () => {
    let asked = 0
    const receipts = (it: Odd[]) => {
      asked++
      return it
    }
    const reading = await read({ receipts, logs: () => [] })
    expect(reading).toMatchObject({ ...EVENTS, proven: EVENTS.numbers })
    expect(asked).toBeLessThanOrEqual(EVENTS.numbers.length)
  })
})

describe('numbers without a block', () => {
  const missing =
    (numbers: readonly number[], answer: (number: number) => Odd) => (block: Odd, asked: number) => {
      if (numbers.includes(asked)) return answer(asked)
      let parent = Number(block.number) - 1
      while (numbers.includes(parent)) parent--
      return { ...block, parentHash: blockOf(parent).hash }
    }
  const fail = () => {
    throw Object.assign(new Error('requested epoch was a null round'), { code: 1, name: 'RpcRequestError' })
  }
  it.each<[string, readonly number[], (number: number) => Odd]>([
    ['three in a row, over two steps', [4, 5, 6], () => null],
    ['one that is an error', [3], fail],
    ['one that is the block before', [3], (number) => blockOf(number - 1)],
  ])('are skipped: %s', async (_what, numbers, answer) => {
    const { orders, proven } = await read({ block: missing(numbers, answer) })
    expect(orders).toEqual(numbers.includes(WITH_EVENTS) ? [] : [200, 202])
    expect(proven).toEqual(numbers)
  })

  it('are an error when the next block has another parent', async () => {
    await expect(read({ block: (block, asked) => (asked === 3 ? null : block) })).rejects.toThrow('block 3')
  })
})

describe('a pushed head', () => {
  it.each<[string, object, number]>([
    ['names the block that is read', { hash: blockOf(5).hash }, 5],
    ['is not believed', { ...blockOf(7), number: '0x1', parentHash: word(0), logsBloom: ZERO_BLOOM }, 7],
    ['that the node does not have means the last block', { hash: word(77) }, 8],
    ['without a hash means the last block', { number: '0x5' }, 8],
  ])('%s', async (_what, pushed, number) => {
    const head = await createTestReader({}).reader.head(pushed)
    const { hash, parentHash, logsBloom } = blockOf(number)
    expect(head).toMatchObject({ number, hash, parentHash, logsBloom })
  })
})
