import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import {
  announced,
  contents,
  header,
  manySettled,
  newBlocks,
  openStore,
  SETTLEMENT,
  settled,
  takenBack,
} from './event-samples.js'
import { temporaryFile } from './temporary-file.js'

/** A store whose clock is set by hand. */
async function openAt(startMs: number, path = ':memory:') {
  const clock = { ms: startMs }
  return { ...(await openStore(path, () => clock.ms)), clock }
}

const events = [settled(1, 11, 0), settled(1, 12, 0), settled(1, 13, 0), settled(1, 14, 0)] as const

/** Four events, announced at 100, 200, 300 and 400 ms. */
async function prepare(path = ':memory:') {
  const opened = await openAt(0, path)
  await opened.store.begin(1, SETTLEMENT, header(10))
  for (const placed of events) {
    opened.clock.ms += 100
    const { blockNumber } = placed.event
    await opened.store.append(1, newBlocks(blockNumber, blockNumber, [placed]))
  }
  return opened
}

describe('pruning', () => {
  test('an empty log removes nothing', async () => {
    const { store } = await openAt(0)
    expect(await store.prune(Number.MAX_SAFE_INTEGER)).toBe(0)
    expect(await store.readState()).toMatchObject({ lastSequence: 0, prunedSequence: 0 })
  })

  test.each([
    [0, 0],
    [100, 0],
    [101, 1],
    [300, 2],
    [301, 3],
    [400, 3],
    [401, 4],
  ])('what was announced before %d ms removes %d entries', async (beforeMs, count) => {
    const { store } = await prepare()
    const { positions } = await contents(store, 1)
    expect(await store.prune(beforeMs)).toBe(count)
    expect(await contents(store, 1)).toStrictEqual({
      state: { logId: expect.any(String), lastSequence: 4, prunedSequence: count },
      entries: announced(1, ...events).slice(count),
      positions,
    })
  })

  test('goes on where it ended, and never back', async () => {
    const { store } = await prepare()
    expect(await store.prune(201)).toBe(2)
    expect(await store.prune(201)).toBe(2)
    expect(await store.prune(0)).toBe(2)
    expect(await store.readState()).toMatchObject({ prunedSequence: 2 })
    expect(await store.prune(301)).toBe(3)
    expect(await store.readAfter(0, 100)).toStrictEqual(announced(4, events[3]))
  })

  test('dates a reversion by when it was announced', async () => {
    const { store, clock } = await prepare()
    clock.ms = 500
    await store.revert(1, header(13))
    expect(await store.prune(401)).toBe(4)
    expect(await store.readAfter(0, 100)).toStrictEqual(takenBack(5, events[3]))
    expect(await store.prune(501)).toBe(5)
  })

  test('leaves what remains to be taken back', async () => {
    const { store } = await prepare()
    await store.prune(301)
    expect(await store.revert(1, header(13))).toStrictEqual(takenBack(5, events[3]))
  })

  test('everything does not let a sequence be used again', async () => {
    const { store } = await prepare()
    expect(await store.prune(401)).toBe(4)
    expect(await store.readAfter(0, 100)).toEqual([])
    expect(await store.readState()).toMatchObject({ lastSequence: 4, prunedSequence: 4 })
    const next = [settled(1, 15, 0)]
    expect(await store.append(1, newBlocks(15, 15, next))).toStrictEqual(announced(5, ...next))
    expect(await store.revert(1, header(14))).toStrictEqual(takenBack(6, ...next))
  })

  test('does not let go of the place in the chain', async () => {
    const { store } = await prepare()
    await store.prune(401)
    expect(await store.readPosition(1)).toEqual({
      settlement: SETTLEMENT,
      firstBlock: 11,
      headers: [10, 11, 12, 13, 14].map((number) => header(number)),
    })
  })

  test.each([499, 500, 501, 1733])('removes all of %d old entries and nothing else', async (count) => {
    const { store, clock } = await openAt(100)
    await store.append(1, newBlocks(11, 11, manySettled(1, 11, count)))
    clock.ms = 200
    await store.append(1, newBlocks(12, 12, [settled(1, 12, 0)]))
    expect(await store.prune(200)).toBe(count)
    expect(await store.readAfter(0, 10_000)).toStrictEqual(announced(count + 1, settled(1, 12, 0)))
    expect(await store.readState()).toMatchObject({ lastSequence: count + 1, prunedSequence: count })
  })

  test('never shows less as removed than it did before, also while it removes more', async () => {
    const { store, clock } = await openAt(100)
    await store.append(1, newBlocks(11, 11, manySettled(1, 11, 1200)))
    await store.prune(200)
    await store.append(1, newBlocks(12, 12, manySettled(1, 12, 1200)))
    clock.ms = 200
    const pruned = store.prune(200)
    const seen = []
    while (seen.at(-1) !== 2400) {
      seen.push((await store.readState()).prunedSequence)
      await nextTurn()
    }
    expect(await pruned).toBe(2400)
    expect(seen.length).toBeGreaterThan(2)
    expect(seen.filter((sequence) => sequence < 1200)).toEqual([])
    expect(seen).toEqual([...seen].sort((a, b) => a - b))
  })

  test('lets new entries come in between, which stay', async () => {
    const { store, clock } = await openAt(100)
    await store.append(1, newBlocks(11, 11, manySettled(1, 11, 2000)))
    clock.ms = 200
    const pruned = store.prune(200)
    const arrivals = [12, 13, 14].map((number) => settled(1, number, 0))
    const told = []
    for (const arrival of arrivals) {
      const { blockNumber } = arrival.event
      told.push(...(await store.append(1, newBlocks(blockNumber, blockNumber, [arrival]))))
    }
    expect(await pruned).toBe(2000)
    expect(told).toStrictEqual(announced(2001, ...arrivals))
    expect(await store.readAfter(0, 10_000)).toStrictEqual(told)
  })
})

describe('opening a file again', () => {
  test.each([
    ['none', 0, 0],
    ['some', 301, 3],
    ['all', 401, 4],
  ])('goes on with the sequences when %s were removed', async (_how, beforeMs, count) => {
    const path = temporaryFile()
    const { store: first, close } = await prepare(path)
    await first.prune(beforeMs)
    const before = await contents(first, 1)
    await close()

    const { store } = await openAt(1000, path)
    expect(await contents(store, 1)).toStrictEqual(before)
    expect(before.state).toMatchObject({ lastSequence: 4, prunedSequence: count })
    const next = [settled(1, 15, 0)]
    expect(await store.append(1, newBlocks(15, 15, next))).toStrictEqual(announced(5, ...next))
  })
})

describe('the id of a log', () => {
  test('is that of its file for good', async () => {
    const path = temporaryFile()
    const ids = []
    for (const beforeMs of [0, 401, 401]) {
      const { store, close } = await openAt(1000, path)
      ids.push((await store.readState()).logId)
      await store.prune(beforeMs)
      await close()
    }
    expect(new Set(ids).size).toBe(1)
  })

  test('is another in every other database', async () => {
    const paths = [temporaryFile(), temporaryFile(), ':memory:', ':memory:']
    const opened = await Promise.all(paths.map((path) => openAt(0, path)))
    const states = await Promise.all(opened.map(({ store }) => store.readState()))
    expect(new Set(states.map(({ logId }) => logId)).size).toBe(paths.length)
  })
})
