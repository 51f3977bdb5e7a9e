import { describe, expect, test } from 'vitest'
import { POSTGRES_TABLES } from '../../../src/store/postgres/postgres-stores.js'
import type {
  QuoteRecordSchema,
  RecordFilter,
  RecordPage,
} from '../../../src/store/records/quote-record-store.js'
import {
  createQuoteRecordTable,
  type QuoteRecordStore,
} from '../../../src/store/records/quote-record-table.js'
import { createPostgresDatabase } from '../../support/databases/postgres-database.js'
import { storedRecord } from '../../support/databases/stored-record.js'
import { NEW_DATABASES, type NewDatabase, postgresAt } from '../databases.js'

async function openTable(on: NewDatabase, maxBytes = 1_000_000_000) {
  const { database, close } = await on.open<QuoteRecordSchema>(POSTGRES_TABLES.quoteRecords)
  const read = () => database.selectFrom('quote_records').select('quote_id').orderBy('quote_id').execute()
  const table = createQuoteRecordTable(database, maxBytes)
  return { table, ids: async () => (await read()).map(idOf), close }
}

function idOf({ quote_id }: { quote_id: string }): string {
  return quote_id
}

function record(number: number, text = `{"number":${number}}`) {
  const quoteId = String(number).padStart(5, '0')
  return storedRecord({ quoteId, requestedAt: 1_800_000_000_000 + number, record: text })
}

async function prune(table: QuoteRecordStore, before: number): Promise<void> {
  while (await table.pruneSome(before));
}

const records = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => record(from + index))

describe.each(NEW_DATABASES)('records of quotes in %s', (_which, create) => {
  test('are returned as they were saved, also when the database is opened again', async () => {
    const on = await create()
    const text = JSON.stringify({ name: "\u0000\ud800 Größe 🙂 '; drop table quote_records; --", is: null })
    const saved = [record(1, text), record(2, `"${'x'.repeat(1_000_000)}"`), record(3, '')]
    const first = await openTable(on)
    await first.table.save(saved)
    await first.close()
    const { table } = await openTable(on)
    for (const { quoteId, record } of saved) expect(await table.read(quoteId)).toBe(record)
    expect(await table.read('4')).toBeUndefined()
  })

  test('before a time are removed, and no others', async () => {
    const { table, ids } = await openTable(await create())
    await table.save(records(0, 2500))
    for (const left of [0, 2001, 2500]) {
      await prune(table, record(left).requestedAt)
      expect(await ids()).toEqual(records(left, 2500).map(({ quoteId }) => quoteId))
    }
  })

  test('beyond the bound remove the oldest ones, at every replica', async () => {
    const on = await create()
    const bound = 100_000
    const { table, ids } = await openTable(on, bound)
    const other = (await openTable(on, bound)).table
    const text = 'x'.repeat(800)
    for (let from = 0; from < 1000; from += 50) {
      const batch = records(from, from + 50).map((each) => ({ ...each, record: text }))
      await (from % 100 === 0 ? table : other).save(batch)
      expect(await other.usedBytes()).toBeLessThanOrEqual(bound)
    }
    const kept = (await ids()).length
    expect(kept).toBeGreaterThanOrEqual(50)
    expect(kept).toBeLessThanOrEqual(100)
    expect(await ids()).toEqual(records(1000 - kept, 1000).map(({ quoteId }) => quoteId))
  })

  test('have a size that follows removals, and is 0 without any record', async () => {
    const { table } = await openTable(await create())
    expect(await table.usedBytes()).toBe(0)
    await table.save(records(0, 100).map((each) => ({ ...each, record: 'ß'.repeat(400) })))
    expect(await table.usedBytes()).toBe(100 * 1300)
    await prune(table, record(60).requestedAt)
    expect(await table.usedBytes()).toBe(40 * 1300)
    await prune(table, record(100).requestedAt)
    expect(await table.usedBytes()).toBe(0)
  })

  describe('of a solver', () => {
    const own = `0x${'aa'.repeat(20)}` as const
    const other = `0x${'bb'.repeat(20)}` as const
    const filter = { chainId: 1, solver: own, since: 0, after: undefined, limit: 200 }
    const textOf = (number: number, solver: string, chainId = 1) =>
      JSON.stringify({ number, chainId, request: { user: own }, solvers: [{ solver: other }, { solver }] })
    const numbersOf = ({ records }: RecordPage) => records.map((text) => JSON.parse(text).number)

    async function readPages(table: QuoteRecordStore, limit: number): Promise<number[][]> {
      const pages: number[][] = []
      for (let after: RecordFilter['after']; ; ) {
        const page = await table.list({ ...filter, after, limit })
        pages.push(numbersOf(page))
        if (page.next === undefined) return pages
        after = page.next
      }
    }

    test('are in pages, newest first, each of which reads a limited number of records', async () => {
      const { table } = await openTable(await create())
      const isOwn = (number: number) => number % 300 === 0
      await table.save(
        records(0, 1700).map((each, number) => ({
          ...each,
          record: textOf(number, isOwn(number) ? own : other),
        })),
      )
      expect(await readPages(table, 200)).toEqual([[1500, 1200], [900], [600, 300], [0]])
      expect((await readPages(table, 1)).flat()).toEqual([1500, 1200, 900, 600, 300, 0])
    })

    test('are in pages also when many have the same time, and later ones are written between pages', async () => {
      const { table } = await openTable(await create())
      const same = records(0, 40).map((each, number) => ({
        ...each,
        requestedAt: 5,
        record: textOf(number, own),
      }))
      await table.save(same)
      const first = await table.list({ ...filter, limit: 7 })
      await table.save([storedRecord({ quoteId: '99999', requestedAt: 5, record: textOf(99, own) })])
      const rest = await table.list({ ...filter, after: first.next })
      expect([...numbersOf(first), ...numbersOf(rest)]).toEqual(same.map((_, number) => 39 - number))
    })

    test('are only those of its chain since a time', async () => {
      const { table } = await openTable(await create())
      const texts = [textOf(0, own), textOf(1, own, 11), textOf(2, other), textOf(3, own)]
      await table.save(texts.map((text, number) => record(number, text)))
      expect(numbersOf(await table.list({ ...filter, since: record(1).requestedAt }))).toEqual([3])
      expect(numbersOf(await table.list(filter))).toEqual([3, 0])
    })
  })

  test('that are saved again stay unchanged', async () => {
    const { table, ids } = await openTable(await create())
    await table.save(records(0, 2))
    await table.save([])
    await table.save([record(0, 'other'), record(1, 'other'), record(2)])
    expect(await ids()).toEqual(records(0, 3).map(({ quoteId }) => quoteId))
    expect(await table.read(record(1).quoteId)).toBe(record(1).record)
  })
})

test('replicas remove records at the same time, while others are saved', async () => {
  const on = postgresAt(await createPostgresDatabase())
  const { table, ids } = await openTable(on)
  const tables = [table, (await openTable(on)).table, (await openTable(on)).table]
  const before = record(5000).requestedAt
  await table.save(records(0, 5000))
  const newer = Array.from({ length: 20 }, (_, index) => records(5000 + 10 * index, 5010 + 10 * index))
  await Promise.all([
    ...tables.map((each) => prune(each, before)),
    ...newer.map((batch) => table.save(batch)),
  ])
  // Each one ends when it finds fewer than one batch, possibly because another one is removing them.
  await prune(table, before)
  expect(await ids()).toEqual(newer.flat().map(({ quoteId }) => quoteId))
})
