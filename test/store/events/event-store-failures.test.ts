import { describe, expect, test } from 'vitest'
import { BOTH_DATABASES, DURABLE_DATABASES, type TestDatabase } from '../databases.js'
import {
  header,
  manySettled,
  newBlocks,
  openToRead,
  publishedEntries,
  SETTLEMENT,
  STANDS,
  settled,
} from './event-samples.js'

async function prepare(on: TestDatabase) {
  const opened = await openToRead(on)
  await opened.store.begin(opened.one, SETTLEMENT, header(10))
  await opened.store.append(opened.one, newBlocks(11, 12, [settled(1, 11, 0), settled(1, 12, 0)]))
  return { ...opened, before: await opened.contents(1) }
}

const twice = (count: number) => [...manySettled(1, 13, count), settled(1, 13, count - 1)]
/** The error of SQLite and PostgreSQL for a block number that exists already. */
const TAKEN = /UNIQUE constraint failed: chain_headers|constraint "chain_headers_pk"$/

describe.each(BOTH_DATABASES)('a failed append changes nothing %s:', (_where, kind) => {
  const create = kind()

  test.each([
    ['an event published before', [settled(1, 13, 0), settled(1, 12, 0)]],
    ['an event that comes twice', twice(1)],
    ['an event that comes twice, in the second statement', twice(501)],
    ['an event that comes twice, in the last of many statements', twice(1700)],
  ])('%s', async (_what, events) => {
    const { store, one, contents, before } = await prepare(await create())
    const failing = store.append(one, { ...newBlocks(13, 14, events), keepFrom: 12 })
    await expect(failing).rejects.toThrow(STANDS)
    expect(await contents(1)).toStrictEqual(before)
  })

  test('a block whose number exists already', async () => {
    const { store, one, contents, before } = await prepare(await create())
    const failing = store.append(one, { ...newBlocks(12, 13, [settled(1, 13, 0)], 'b'), keepFrom: 12 })
    await expect(failing).rejects.toThrow(TAKEN)
    expect(await contents(1)).toStrictEqual(before)
  })

  test('the next append follows the last entry', async () => {
    const { store, one } = await prepare(await create())
    await expect(store.append(one, newBlocks(13, 13, twice(1)))).rejects.toThrow(STANDS)
    const next = [settled(1, 13, 0)]
    expect(await store.append(one, newBlocks(13, 13, next))).toStrictEqual(publishedEntries(3, ...next))
  })
})

describe.each(DURABLE_DATABASES)('after a failed append, %s that is opened again', (_where, kind) => {
  const create = kind()

  test('nothing has changed, and the next append follows the last entry', async () => {
    const database = await create()
    const first = await prepare(database)
    await expect(first.store.append(first.one, newBlocks(13, 13, twice(1700)))).rejects.toThrow(STANDS)
    await first.close()

    const { store, one, contents } = await openToRead(database)
    expect(await contents(1)).toStrictEqual(first.before)
    const next = [settled(1, 13, 0)]
    expect(await store.append(one, newBlocks(13, 13, next))).toStrictEqual(publishedEntries(3, ...next))
  })
})
