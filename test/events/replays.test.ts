import { expect, test } from 'vitest'
import { EVERY_EVENT } from '../../packages/protocol/src/orders/event.js'
import { entriesPerReadOf } from '../../src/events/replays.js'

const orderIds = (count: number) =>
  new Set(Array.from({ length: count }, (_, index) => `0x${index.toString(16)}` as const))

test.each([
  ['one order', { orderIds: orderIds(1) }, 100_000],
  ['100 orders', { orderIds: orderIds(100) }, 100_000],
  ['so many orders that SQLite uses no index', { orderIds: orderIds(101) }, 2000],
  ['one user', { users: new Set(['0xa'] as const) }, 100_000],
  ['a type', { types: new Set(['Settled'] as const) }, 2000],
  ['everything', {}, 100],
])(
  'a read for %s covers no more of the log than an index or the main thread allows',
  (_, filter, entries) => {
    expect(entriesPerReadOf({ ...EVERY_EVENT, ...filter })).toBe(entries)
  },
)
