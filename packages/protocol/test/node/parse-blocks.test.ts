import { describe, expect, it } from 'vitest'
import { headerIn, InconsistentAnswerError, logsIn } from '../../src/node/parse-blocks.js'
import type { Address } from '../../src/values/hex.js'

// biome-ignore lint/suspicious/noExplicitAny: the shapes that nodes answer in
type Odd = any

const CONTRACT: Address = `0x${'5e'.repeat(20)}`
const word = (byte: string) => `0x${byte.repeat(32)}`
const BLOOM = `0x${'0a'.repeat(256)}`
const HEADER = { number: 5, hash: word('b5'), parentHash: word('b4') }
const BLOCK = {
  ...HEADER,
  number: '0x5',
  timestamp: '0x64',
  logsBloom: BLOOM,
  receiptsRoot: word('cc'),
  transactions: [word('a1'), word('a2')],
}

/** What is read of both logs, with a change of the second one. */
const read = ['a1', 'a2'].map((transaction, logIndex) => ({
  address: CONTRACT,
  blockNumber: 5,
  blockHash: HEADER.hash,
  transactionHash: word(transaction),
  logIndex,
  topics: [word('dd'), word('0e')],
  data: '0x',
}))
const LOGS = read.map((log, index) => ({
  ...log,
  blockNumber: '0x5',
  blockTimestamp: '0x64',
  transactionIndex: `0x${index}`,
  logIndex: `0x${index}`,
  removed: false,
}))

const each = (change: (item: Odd, index: number) => Odd) => (items: Odd[]) => items.map(change)
const PADDED = (value: string) => `0x${value.slice(2).padStart(16, '0')}`
const DECIMAL = (value: string) => String(Number(value))
const CAPITALS = (value: string) => `0x${value.slice(2).toUpperCase()}`
const NUMBERS = ['blockNumber', 'logIndex', 'transactionIndex']
const spelled = (spelling: (value: string) => Odd, members: readonly string[]) => (item: Odd) => ({
  ...item,
  ...Object.fromEntries(members.map((member) => [member, spelling(item[member])])),
})

describe('logs are read', () => {
  it.each<[string, (logs: Odd[]) => Odd]>([
    [
      'without data as an empty text and as 0x0',
      each((log, index) => ({ ...log, data: ['', '0x0'][index] })),
    ],
    ['whose data is absent and null', each((log, index) => ({ ...log, data: [undefined, null][index] }))],
    ['with padded numbers', each(spelled(PADDED, NUMBERS))],
    ['with plain numbers', each(spelled(Number, NUMBERS))],
    ['with decimal texts', each(spelled(DECIMAL, NUMBERS))],
    ['in capitals', each(spelled(CAPITALS, [...NUMBERS, 'address', 'blockHash', 'transactionHash']))],
    ['with topics in capitals', each((log) => ({ ...log, topics: log.topics.map(CAPITALS) }))],
    [
      'with odd members that are not needed',
      each((log) => ({ ...log, removed: null, blockTimestamp: 'now', logType: null })),
    ],
    ['without an index of their transaction', each(({ transactionIndex, ...log }) => log)],
    ['that come twice', (logs) => [...logs, ...logs]],
    ['that come backwards', (logs) => [...logs].reverse()],
    ['with one index, backwards', (logs) => logs.map((log) => ({ ...log, logIndex: '0x7' })).reverse()],
    ['with indices of their transactions', each((log, index) => ({ ...log, logIndex: `0x${3 - index}` }))],
    [
      'with one index and no transaction index',
      each(({ transactionIndex, ...log }) => ({ ...log, logIndex: 0 })),
    ],
  ])('%s', (_what, change) => {
    expect(logsIn(change(LOGS), CONTRACT)).toMatchObject(read)
  })

  it('that are null as none', () => {
    expect(logsIn(null, CONTRACT)).toEqual([])
  })

  it.each<[string, object]>([
    ['without an index', { logIndex: undefined }],
    ['with words for an index', { logIndex: 'first' }],
    ['with no block number yet', { blockNumber: null }],
    ['with a short topic', { topics: ['0x12'] }],
    ['with half a byte of data', { data: '0x123' }],
    ['that were removed', { removed: true }],
    ['of another contract', { address: `0x${'77'.repeat(20)}` }],
  ])('but not those %s', (_what, change) => {
    expect(() => logsIn([{ ...LOGS[0], ...change }], CONTRACT)).toThrow(InconsistentAnswerError)
  })
})

describe('a block is read', () => {
  it.each<[string, (block: Odd) => Odd, object]>([
    ['with plain numbers', spelled(Number, ['number', 'timestamp']), {}],
    ['in capitals', spelled(CAPITALS, ['hash', 'parentHash', 'logsBloom']), {}],
    ['with whole transactions', (block) => ({ ...block, transactions: [{}, {}] }), {}],
    ['without transactions', ({ transactions, ...block }) => block, { transactions: undefined }],
    ['with words for a time', (block) => ({ ...block, timestamp: 'now' }), { timestampMs: 0 }],
    ['with a short bloom filter', (block) => ({ ...block, logsBloom: '0x0a' }), { logsBloom: undefined }],
    ['with a number for a bloom filter', (block) => ({ ...block, logsBloom: 1 }), { logsBloom: undefined }],
  ])('%s', (_what, change, differs) => {
    const usual = { ...HEADER, timestampMs: 100_000, logsBloom: BLOOM, transactions: 2 }
    expect(headerIn(change(BLOCK), '5')).toEqual({ ...usual, ...differs })
  })
})
