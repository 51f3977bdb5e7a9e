import { describe, expect, test } from 'vitest'
import { BOTH_DATABASES, type TestDatabase } from '../databases.js'
import {
  header,
  manySettled,
  newBlocks,
  openToRead,
  pruneAll,
  publishedEntries,
  revertedEntries,
  SETTLEMENT,
  settled,
} from './event-samples.js'

/** A store whose clock the test sets. */
async function openAt(startMs: number, on: TestDatabase) {
  const clock = { ms: startMs }
  return { ...(await openToRead(on, () => clock.ms)), clock }
}

const events = [settled(1, 11, 0), settled(1, 12, 0), settled(1, 13, 0), settled(1, 14, 0)] as const

/** Four events, published at 100, 200, 300 and 400 ms. */
async function prepare(on: TestDatabase) {
  const opened = await openAt(0, on)
  await opened.store.begin(opened.one, SETTLEMENT, header(10))
  for (const source of events) {
    opened.clock.ms += 100
    const { blockNumber } = source.event
    await opened.store.append(opened.one, newBlocks(blockNumber, blockNumber, [source]))
  }
  return opened
}

describe.each(BOTH_DATABASES)('an event store %s', (_where, kind) => {
  const create = kind()

  describe('pruning', () => {
    test.each([
      [0, 0],
      [100, 0],
      [101, 1],
      [300, 2],
      [301, 3],
      [400, 3],
      [401, 4],
    ])('before %d ms passes %d entries', async (beforeMs, count) => {
      const { store, contents } = await prepare(await create())
      const { positions } = await contents(1)
      expect(await pruneAll(store, beforeMs)).toBe(count)
      expect(await contents(1)).toStrictEqual({
        state: { logId: expect.any(String), lastSequence: 4, prunedSequence: count },
        // The last of them stays, for cursors.
        entries: publishedEntries(1, ...events).slice(Math.max(0, count - 1)),
        positions,
      })
    })

    test('dates a reversion by its own publication', async () => {
      const { store, clock, one } = await prepare(await create())
      clock.ms = 500
      await store.revert(one, header(13))
      expect(await pruneAll(store, 401)).toBe(4)
      expect(await store.readAfter(4, 100)).toStrictEqual(revertedEntries(5, events[3]))
      expect(await pruneAll(store, 501)).toBe(5)
    })

    test('of everything does not free a sequence for reuse', async () => {
      const { store, one } = await prepare(await create())
      expect(await pruneAll(store, 401)).toBe(4)
      expect(await store.readAfter(4, 100)).toEqual([])
      expect(await store.readState()).toMatchObject({ lastSequence: 4, prunedSequence: 4 })
      const next = [settled(1, 15, 0)]
      expect(await store.append(one, newBlocks(15, 15, next))).toStrictEqual(publishedEntries(5, ...next))
      expect(await store.revert(one, header(14))).toStrictEqual(revertedEntries(6, ...next))
    })

    test.each([500, 501, 1733])('removes all of %d old entries but the last', async (count) => {
      const { store, clock, one } = await openAt(100, await create())
      await store.append(one, newBlocks(11, 11, manySettled(1, 11, count)))
      clock.ms = 200
      await store.append(one, newBlocks(12, 12, [settled(1, 12, 0)]))
      expect(await pruneAll(store, 200)).toBe(count)
      const lastOld = settled(1, 11, count - 1)
      expect(await store.readAfter(0, 10_000)).toStrictEqual(
        publishedEntries(count, lastOld, settled(1, 12, 0)),
      )
      expect(await store.readEntry(count - 1)).toBeUndefined()
      expect(await store.readState()).toMatchObject({ lastSequence: count + 1, prunedSequence: count })
    })
  })
})
