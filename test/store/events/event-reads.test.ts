import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { EVERY_EVENT, type EventFilter, matches } from '../../../packages/protocol/src/orders/event.js'
import { BOTH_DATABASES } from '../databases.js'
import { header, manySettled, newBlocks, openToRead, pruneAll, settled } from './event-samples.js'

const sets = <T>(...values: T[]) => fc.subarray(values, { maxLength: 3 }).map((some) => new Set(some))
const filters: fc.Arbitrary<EventFilter> = fc.record({
  chainIds: sets(1, 2, 3),
  types: sets<'Deposited' | 'Settled' | 'Refunded' | 'Reverted'>(
    'Deposited',
    'Settled',
    'Refunded',
    'Reverted',
  ),
  orderIds: sets<`0x${string}`>('0xa110', '0xa121', '0xa210', '0xno'),
  users: sets<`0x${string}`>('0xa110b0', '0xa122b0', '0xa211b0', '0xno'),
  solvers: sets<`0x${string}`>('0xa110c0', '0xa121c0', '0xa210c0', '0xno'),
})

describe.each(BOTH_DATABASES)('in %s', (_which, useDatabase) => {
  const newDatabase = useDatabase()

  async function openLog(now?: () => number) {
    const opened = await openToRead(await newDatabase(), now)
    const { store, one, two } = opened
    await store.append(one, newBlocks(1, 1, manySettled(1, 1, 4)))
    await store.append(one, newBlocks(2, 2, manySettled(1, 2, 6)))
    await store.append(two, newBlocks(1, 1, manySettled(2, 1, 4)))
    await store.revert(one, header(1))
    return opened
  }

  test('a range read with a filter has exactly the entries that pass it, in order', async () => {
    const { store } = await openLog()
    const all = await store.readAfter(0, 100)
    expect(all).toHaveLength(20)
    const range = fc.tuple(fc.nat(20), fc.nat(20)).map(([a, b]) => ({
      after: Math.min(a, b),
      through: Math.max(a, b),
    }))
    await fc.assert(
      fc.asyncProperty(filters, range, fc.integer({ min: 1, max: 20 }), async (filter, within, limit) => {
        const wanted = all
          .slice(within.after, within.through)
          .filter(({ event }) => matches(filter, event))
          .slice(0, limit)
        expect(await store.readMatching(filter, within, limit)).toStrictEqual(wanted)
      }),
      { seed: 20_261_121, numRuns: 150 },
    )
  })

  test('a range is not read when retention has removed a part of it', async () => {
    let now = 1000
    const { store, one } = await openLog(() => now)
    now = 2000
    await store.append(one, newBlocks(2, 2, manySettled(1, 2, 2)))
    expect(await pruneAll(store, 1500)).toBe(20)
    const filter = { ...EVERY_EVENT, chainIds: new Set([1]) }
    expect(await store.readMatching(filter, { after: 19, through: 22 }, 10)).toBeUndefined()
    expect(await store.readMatching(filter, { after: 20, through: 22 }, 10)).toHaveLength(2)
  })

  test('the digest of an entry is the same when it is written, read alone, read with others and found by a filter', async () => {
    const { store, one } = await openToRead(await newDatabase())
    const written = await store.append(one, newBlocks(11, 11, [settled(1, 11, 0), settled(1, 11, 1)]))
    const reverted = await store.revert(one, header(10))
    const all = [...written, ...reverted]
    expect(await store.readAfter(0, 10)).toStrictEqual(all)
    for (const entry of all) expect(await store.readEntry(entry.sequence)).toStrictEqual(entry)
    const filter = { ...EVERY_EVENT, chainIds: new Set([1]) }
    expect(await store.readMatching(filter, { after: 0, through: 4 }, 10)).toStrictEqual(all)
    expect(new Set(all.map(({ digest }) => digest)).size).toBe(4)
    expect(await store.readEntry(5)).toBeUndefined()
  })

  test('the digest of an entry differs when the same entry is published at another time or has another block', async () => {
    const digests = []
    for (const [time, branch] of [
      [1, 'a'],
      [2, 'a'],
      [1, 'b'],
    ] as const) {
      const { store, one } = await openToRead(await newDatabase(), () => time)
      const [entry] = await store.append(one, newBlocks(11, 11, [settled(1, 11, 0, branch)], branch))
      digests.push(entry?.digest)
    }
    expect(new Set(digests).size).toBe(3)
  })
})
