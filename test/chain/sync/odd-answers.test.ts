import { describe, expect, it } from 'vitest'
import { InconsistentAnswerError } from '../../../packages/protocol/src/node/parse-blocks.js'
import type { Hex } from '../../../packages/protocol/src/values/hex.js'
import { IncompleteRangeError } from '../../../src/chain/logs/range-logs.js'
import { EMPTY_TRIE_ROOT, ZERO_BLOOM } from '../../support/model-chain/bloom.js'
import { word } from './any-orders.js'
import { blockOf, createTestReader, EVENTS, type Odd, read, WITH_EVENTS } from './odd-node.js'

const each = (change: (item: Odd, index: number) => Odd) => (items: Odd[]) => items.map(change)
const PADDED = (value: string) => `0x${value.slice(2).padStart(16, '0')}`
const CAPITALS = (value: string) => `0x${value.slice(2).toUpperCase()}`
const NUMBERS = ['blockNumber', 'logIndex', 'transactionIndex'] as const
const spelled = (spelling: (value: string) => Odd, members: readonly string[]) => (item: Odd) => ({
  ...item,
  ...Object.fromEntries(members.map((member) => [member, spelling(item[member])])),
})

describe('events are read from logs', () => {
  it.each<[string, (logs: Odd[]) => Odd]>([
    ['that are null where there are none', (logs) => (logs.length === 0 ? null : logs)],
    ['without data as an empty text', each((log) => ({ ...log, data: '' }))],
    ['without data as 0x0', each((log) => ({ ...log, data: '0x0' }))],
    ['whose data is absent', each(({ data, ...log }) => log)],
    ['whose data is null', each((log) => ({ ...log, data: null }))],
    ['with padded numbers', each(spelled(PADDED, NUMBERS))],
    ['with plain numbers', each(spelled(Number, NUMBERS))],
    ['with decimal texts', each(spelled((value) => String(Number(value)), NUMBERS))],
    ['in capitals', each(spelled(CAPITALS, [...NUMBERS, 'address', 'blockHash', 'transactionHash']))],
    ['with topics in capitals', each((log) => ({ ...log, topics: log.topics.map(CAPITALS) }))],
    ['whose removed is null', each((log) => ({ ...log, removed: null }))],
    ['with a time in words', each((log) => ({ ...log, blockTimestamp: 'now' }))],
    ['without an index of their transaction', each(({ transactionIndex, ...log }) => log)],
    ['with members of the node', each((log) => ({ ...log, logType: null, l1BatchNumber: '0x1' }))],
    ['that come twice', (logs) => [...logs, ...logs]],
    ['that come backwards', (logs) => [...logs].reverse()],
  ])('%s', async (_what, logs) => {
    expect(await read({ logs })).toMatchObject(EVENTS)
  })

  it('by number where the node ignores the hash of a filter, and has no receipts', async () => {
    const logs = (found: Odd[], { blockHash }: Odd) => (blockHash === undefined ? found : [])
    expect(await read({ logs })).toMatchObject(EVENTS)
  })

  it.each<[string, (logs: Odd[]) => Odd]>([
    ['one index', each((log) => ({ ...log, logIndex: '0x0' }))],
    ['one index, backwards', (logs) => logs.map((log) => ({ ...log, logIndex: '0x7' })).reverse()],
    ['indices of their transactions', each((log, index) => ({ ...log, logIndex: `0x${3 - index}` }))],
    ['one index and no transaction index', each(({ transactionIndex, ...log }) => ({ ...log, logIndex: 0 }))],
  ])('with %s, in the order of their transactions', async (_what, logs) => {
    expect(await read({ logs })).toMatchObject({ ...EVENTS, indices: [0, 1] })
  })
})

it.each<[string, object]>([
  ['without an index', { logIndex: undefined }],
  ['with words for an index', { logIndex: 'first' }],
  ['with no block number yet', { blockNumber: null }],
  ['with the number of another block', { blockNumber: '0x1' }],
  ['of another block', { blockHash: word(4) }],
  ['with a short topic', { topics: ['0x12'] }],
  ['with half a byte of data', { data: '0x123' }],
  ['that were removed', { removed: true }],
  ['of another contract', { address: `0x${'77'.repeat(20)}` }],
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
    ['all but the first logs', (logs) => logs.slice(0, 30)],
    ['all but the last logs', (logs) => logs.slice(-30)],
    ['a part in the middle', (logs) => [...logs.slice(0, 60), ...logs.slice(-60)]],
  ])('of many blocks without %s is an error', async (_what, cut) => {
    const logs = (found: Odd[], filter: Odd) => (isRange(filter) ? cut(found) : found)
    const { reader, calls } = createTestReader({ logs })
    await expect(reader.range(1, 400)).rejects.toThrow(IncompleteRangeError)
    expect(calls.filter((method) => method === 'eth_getBlockByNumber').length).toBeLessThan(100)
  })

  it.each([undefined, null, 1_700_000_000, '0x0', '0x1', '0x19a00000000'])(
    'whose logs have the time %s has that of the header, which is read once',
    async (blockTimestamp) => {
      const { reader, calls } = createTestReader({ logs: each((log) => ({ ...log, blockTimestamp })) })
      const { events } = await reader.range(1, 400)
      expect(new Set(events.map(({ event }) => event.blockTime))).toEqual(new Set([100]))
      expect(calls.filter((method) => method === 'eth_getBlockByNumber').length).toBeLessThanOrEqual(400)
    },
  )
})

const RECEIPTS: readonly [string, (receipts: Odd[]) => Odd][] = [
  ['null', () => null],
  ['an object', () => ({})],
  ['a text', () => 'pruned'],
  ['an empty list', () => []],
  ['a list in a list', (receipts) => [receipts]],
  ['a list with null', ([, ...rest]) => [null, ...rest]],
  ['without logs', each(({ logs, ...receipt }) => receipt)],
  ['with null for logs', each((receipt) => ({ ...receipt, logs: null }))],
  ['with null for a log', each((receipt) => ({ ...receipt, logs: [null] }))],
  ['with an object for logs', each((receipt) => ({ ...receipt, logs: {} }))],
  ['without logs in their lists', each((receipt) => ({ ...receipt, logs: [] }))],
  ['with null for a bloom filter', each((receipt) => ({ ...receipt, logsBloom: null }))],
  ['without a bloom filter', each(({ logsBloom, ...receipt }) => receipt)],
  ['with words for a bloom filter', each((receipt) => ({ ...receipt, logsBloom: 'none' }))],
  ['without logs and bloom filters', each(({ logsBloom, ...receipt }) => ({ ...receipt, logs: [] }))],
  [
    'with logs that have no topics',
    each((r) => ({ ...r, logs: r.logs.map((log: Odd) => ({ ...log, topics: null })) })),
  ],
  ['without the last transaction', (receipts) => receipts.slice(0, -1)],
  [
    'with logs that are not counted from 0',
    each((r, index) => ({ ...r, logs: r.logs.map((log: Odd) => ({ ...log, logIndex: index + 1 })) })),
  ],
  ['of another block', each((receipt) => ({ ...receipt, blockHash: word(77) }))],
]

it.each(RECEIPTS)('receipts that are %s mean that the logs are read', async (_what, receipts) => {
  expect(await read({ receipts })).toMatchObject({ ...EVENTS, indices: [0, 1] })
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

it('receipts with numbers of another spelling prove a block', async () => {
  const receipts = each((receipt) => ({ ...receipt, logs: receipt.logs.map(spelled(Number, NUMBERS)) }))
  expect(await read({ receipts })).toMatchObject({ ...EVENTS, proven: EVENTS.numbers })
})

describe('a block is read', () => {
  it.each<[string, (block: Odd) => Odd]>([
    ['with plain numbers', spelled(Number, ['number', 'timestamp'])],
    ['with padded numbers', spelled(PADDED, ['number', 'timestamp'])],
    ['with decimal texts', spelled((value) => String(Number(value)), ['number', 'timestamp'])],
    ['in capitals', spelled(CAPITALS, ['hash', 'parentHash', 'logsBloom'])],
    [
      'with whole transactions',
      (block) => ({ ...block, transactions: block.transactions.map((hash: Hex) => ({ hash })) }),
    ],
    ['without transactions', ({ transactions, ...block }) => block],
    ['without a time', ({ timestamp, ...block }) => block],
    ['with words for a time', (block) => ({ ...block, timestamp: 'now' })],
    ['with a short bloom filter', (block) => ({ ...block, logsBloom: '0x00' })],
    ['with words for a bloom filter', (block) => ({ ...block, logsBloom: 'none' })],
    ['with a number for a bloom filter', (block) => ({ ...block, logsBloom: 0 })],
    [
      'with null for what is not needed',
      (block) => ({ ...block, logsBloom: null, receiptsRoot: null, transactions: null }),
    ],
  ])('%s', async (_what, block) => {
    expect(await read({ block })).toMatchObject(EVENTS)
  })

  const placeholders: readonly [string, object][] = [
    ['a bloom filter of zeros', { logsBloom: ZERO_BLOOM }],
    [
      'a bloom filter of zeros and the root of no receipts',
      { logsBloom: ZERO_BLOOM, receiptsRoot: EMPTY_TRIE_ROOT },
    ],
    ['the root of no receipts and no bloom filter', { logsBloom: null, receiptsRoot: EMPTY_TRIE_ROOT }],
    ['the bloom filter of another block', { logsBloom: blockOf(1).logsBloom, receiptsRoot: EMPTY_TRIE_ROOT }],
    ['a bloom filter with one bit', { logsBloom: `0x${'00'.repeat(255)}01` }],
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
    ['one', [3], () => null],
    ['three', [2, 3, 6], () => null],
    ['three in a row, over two steps', [4, 5, 6], () => null],
    ['the last before the head', [7], () => null],
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
