import { describe, expect, test } from 'vitest'
import { BOTH_DATABASES, type TestDatabase } from '../databases.js'
import {
  header,
  newBlocks,
  openToRead,
  publishedEntries,
  revertedEntries,
  SETTLEMENT,
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

describe.each(BOTH_DATABASES)('in an event store %s', (_where, kind) => {
  const create = kind()

  test.each([
    ['the last block', header(13), [], [10, 11, 12]],
    ['one in between', header(11), [events[3], events[2], events[1]], [10]],
    ['the oldest one', header(10), events.toReversed(), []],
    ['one before all that are known', header(3), events.toReversed(), []],
    ['one of another branch', header(12, 'b', 'a'), [events[3]], [10, 11]],
  ])('a revert to %s publishes the removal of all events after it, latest first', async (...row) => {
    const [, ancestor, removed, kept] = row
    const { store, one, position } = await prepare(await create())
    const entries = revertedEntries(7, ...removed)
    expect(await store.revert(one, ancestor)).toStrictEqual(entries)
    const before = publishedEntries(1, ...events, ...elsewhere)
    expect(await store.readAfter(0, 100)).toStrictEqual([...before, ...entries])
    expect((await store.readState()).lastSequence).toBe(6 + removed.length)
    const headers = [...kept.map((number) => header(number)), ancestor]
    expect((await position(1))?.headers).toEqual(headers)
  })

  test('an event is reverted once each time that it is published', async () => {
    const { store, one, position } = await prepare(await create())
    await store.revert(one, header(12))
    expect(await store.revert(one, header(12))).toEqual([])
    const other = [settled(1, 13, 2, 'b')]
    expect(await store.append(one, newBlocks(13, 13, other, 'b'))).toStrictEqual(
      publishedEntries(8, ...other),
    )
    expect((await position(1))?.headers.at(-1)).toEqual(header(13, 'b'))
    expect(await store.revert(one, header(12))).toStrictEqual(revertedEntries(9, ...other))
    const again = [events[3]]
    expect(await store.append(one, newBlocks(13, 13, again))).toStrictEqual(publishedEntries(10, ...again))
    const removed = [events[3], events[2], events[1]]
    expect(await store.revert(one, header(11))).toStrictEqual(revertedEntries(11, ...removed))
    expect(await store.revert(one, header(10))).toStrictEqual(revertedEntries(14, events[0]))
  })
})
