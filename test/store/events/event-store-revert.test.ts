import { describe, expect, test } from 'vitest'
import type { EventWithPosition } from '../../../packages/protocol/src/orders/block.js'
import { BOTH_DATABASES, DURABLE_DATABASES, type TestDatabase } from '../databases.js'
import {
  header,
  manySettled,
  newBlocks,
  openToRead,
  publishedEntries,
  revertedEntries,
  SETTLEMENT,
  STANDS,
  settled,
} from './event-samples.js'

const events = [settled(1, 11, 0), settled(1, 12, 0), settled(1, 12, 1), settled(1, 13, 2)] as const
const elsewhere = [settled(2, 12, 0), settled(2, 13, 0)] as const

/** A store with four events of chain 1 and two of chain 2, sequences 1 to 6. */
async function prepare(on: TestDatabase) {
  const opened = await openToRead(on)
  const { store, one, two } = opened
  for (const token of [one, two]) await store.begin(token, SETTLEMENT, header(10))
  await store.append(one, newBlocks(11, 13, events))
  await store.append(two, newBlocks(11, 13, elsewhere))
  return opened
}

describe.each(BOTH_DATABASES)('an event store %s', (_where, kind) => {
  const create = kind()

  describe('a revert to a block', () => {
    test('removes the events after it, latest first, and publishes that', async () => {
      const { store, one } = await prepare(await create())
      const entries = revertedEntries(7, events[3], events[2], events[1])
      expect(await store.revert(one, header(11))).toStrictEqual(entries)
      expect(await store.readAfter(0, 100)).toStrictEqual([
        ...publishedEntries(1, ...events, ...elsewhere),
        ...entries,
      ])
      expect(await store.readState()).toMatchObject({ lastSequence: 9 })
    })

    test.each([
      ['the last', header(13), [], [10, 11, 12]],
      ['the oldest', header(10), [...events].reverse(), []],
      ['one before all that are known', header(3), [...events].reverse(), []],
      ['one of another branch', header(12, 'b', 'a'), [events[3]], [10, 11]],
    ])('works for %s', async (_which, ancestor, expected, kept) => {
      const { store, one, position } = await prepare(await create())
      expect(await store.revert(one, ancestor)).toStrictEqual(revertedEntries(7, ...expected))
      const headers = [...kept.map((number) => header(number)), ancestor]
      expect((await position(1))?.headers).toEqual(headers)
    })

    test('reverts no event twice', async () => {
      const { store, one } = await prepare(await create())
      await store.revert(one, header(12))
      expect(await store.revert(one, header(12))).toEqual([])
      expect(await store.revert(one, header(11))).toStrictEqual(revertedEntries(8, events[2], events[1]))
      expect(await store.revert(one, header(10))).toStrictEqual(revertedEntries(10, events[0]))
      expect(await store.revert(one, header(10))).toEqual([])
      expect(await store.readState()).toMatchObject({ lastSequence: 10 })
    })

    test('writes the type of the reverted event and no other details', async () => {
      const { store, one } = await openToRead(await create())
      const position = { blockNumber: 11, transactionHash: '0x7a', blockTime: 1_700_000_011 } as const
      const base = { chainId: 1, orderId: '0x0a', user: '0x0b', solver: undefined, ...position } as const
      const amounts = { inputAmount: 5n, outputAmount: 6n, fillDeadline: 7 }
      const tokens = { inputToken: '0x01', outputToken: '0x02' } as const
      const ofEachType = [
        { ...base, type: 'Deposited', logIndex: 0, ...tokens, ...amounts, solver: '0x0c' },
        { ...base, type: 'Settled', logIndex: 1, orderId: '0x0e' },
        { ...base, type: 'Refunded', logIndex: 2, inputAmount: 1n, bondSlashed: 2n, solver: '0x0d' },
      ] as const
      const source: EventWithPosition[] = ofEachType.map((event) => ({ event, blockHash: '0xa11' }))
      await store.append(one, newBlocks(11, 11, source))
      const entries = [
        { sequence: 4, event: { ...base, type: 'Reverted', logIndex: 2, event: 'Refunded', solver: '0x0d' } },
        { sequence: 5, event: { ...base, type: 'Reverted', logIndex: 1, event: 'Settled', orderId: '0x0e' } },
        {
          sequence: 6,
          event: { ...base, type: 'Reverted', logIndex: 0, event: 'Deposited', solver: '0x0c' },
        },
      ]
      const reverted = await store.revert(one, header(10))
      expect(reverted.map(({ sequence, event }) => ({ sequence, event }))).toStrictEqual(entries)
      expect(await store.readAfter(3, 100)).toStrictEqual(reverted)
    })

    test('reverts more events than fit into one statement', async () => {
      const { store, one } = await openToRead(await create())
      const many = manySettled(1, 11, 3001)
      await store.append(one, newBlocks(11, 11, many))
      const entries = revertedEntries(3002, ...[...many].reverse())
      expect(await store.revert(one, header(10))).toStrictEqual(entries)
      expect(await store.readAfter(3001, 10_000)).toStrictEqual(entries)
    })

    test('changes nothing when it fails', async () => {
      const clock = { isBroken: false }
      const { store, one, contents } = await openToRead(await create(), () => {
        if (clock.isBroken) throw new Error('no time')
        return 0
      })
      await store.begin(one, SETTLEMENT, header(10))
      await store.append(one, newBlocks(11, 13, events))
      const before = await contents(1)
      clock.isBroken = true
      await expect(store.revert(one, header(11))).rejects.toThrow('no time')
      expect(await contents(1)).toStrictEqual(before)

      clock.isBroken = false
      const entries = revertedEntries(5, events[3], events[2], events[1])
      expect(await store.revert(one, header(11))).toStrictEqual(entries)
    })
  })

  describe('a reverted event', () => {
    test('can be published again at the same position, and be reverted again', async () => {
      const { store, one, position } = await prepare(await create())
      await store.revert(one, header(12))
      const again = [settled(1, 13, 2, 'b')]
      expect(await store.append(one, newBlocks(13, 13, again, 'b'))).toStrictEqual(
        publishedEntries(8, ...again),
      )
      await expect(store.append(one, newBlocks(14, 14, again, 'b'))).rejects.toThrow(STANDS)
      expect((await position(1))?.headers.at(-1)).toEqual(header(13, 'b'))

      expect(await store.revert(one, header(12))).toStrictEqual(revertedEntries(9, ...again))
      expect(await store.append(one, newBlocks(13, 13, [events[3]]))).toStrictEqual(
        publishedEntries(10, events[3]),
      )
      expect(await store.revert(one, header(12))).toStrictEqual(revertedEntries(11, events[3]))
    })
  })
})

describe.each(DURABLE_DATABASES)('a reverted event %s', (_where, kind) => {
  const create = kind()

  test('stays reverted when the store is opened again, and the other events can still be reverted', async () => {
    const database = await create()
    const first = await prepare(database)
    await first.store.revert(first.one, header(12))
    const before = await first.contents(1, 2)
    await first.close()

    const { store, one, contents } = await openToRead(database)
    expect(await contents(1, 2)).toStrictEqual(before)
    expect(await store.revert(one, header(10))).toStrictEqual(
      revertedEntries(8, events[2], events[1], events[0]),
    )
  })
})
