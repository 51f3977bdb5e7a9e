import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Kysely, Migration } from 'kysely'
import { BATCH_ROWS } from '../batches.js'
import { readRecordPage } from './quote-record-pages.js'
import type { QuoteRecordSchema } from './quote-record-schema.js'
import type { QuoteRecordStore, StoredQuoteRecord } from './quote-record-store.js'

/** Measures the stored records. */
export interface RecordSize {
  /**
   * Counts bytes before they are written.
   * @returns the count before them
   */
  count(bytes: number): Promise<number>
  /** The bytes that the records use. */
  used(): Promise<number>
}

/** Rows removed at once to make room. They are few, because a record may have tens of kilobytes. */
const ROOM_ROWS = 10
/** Size of a row without its record: its id, its time, and both in an index. */
const ROW_BYTES = 200

/** Migrations of the records' tables, which are a set of their own. */
export const quoteRecordMigrations: Record<string, Migration> = {
  '001-initial': {
    async up(db) {
      await db.schema
        .createTable('quote_records')
        .addColumn('quote_id', 'text', (column) => column.primaryKey())
        .addColumn('requested_at_ms', 'bigint', (column) => column.notNull())
        .addColumn('record', 'text', (column) => column.notNull())
        .addColumn('start_byte', 'bigint', (column) => column.notNull().defaultTo(0))
        .execute()
      await db.schema
        .createIndex('quote_records_requested_at')
        .on('quote_records')
        .column('requested_at_ms')
        .execute()
      await db.schema
        .createTable('quote_record_bytes')
        .addColumn('written_bytes', 'bigint', (column) => column.notNull())
        .execute()
      await db.insertInto('quote_record_bytes').values({ written_bytes: 0 }).execute()
    },
  },
}

/** Builds the store of records over an open database, which it closes at its end. */
export function createQuoteRecordTable(
  database: Kysely<QuoteRecordSchema>,
  { size, maxBytes }: { readonly size: RecordSize; readonly maxBytes: number },
): QuoteRecordStore {
  /** @returns the number of removed records */
  async function removeOldest(limit: number, before = Number.MAX_SAFE_INTEGER): Promise<number> {
    const oldest = database
      .selectFrom('quote_records')
      .select('quote_id')
      .where('requested_at_ms', '<', before)
      .orderBy('requested_at_ms')
      .limit(limit)
    const { numDeletedRows } = await database
      .deleteFrom('quote_records')
      .where('quote_id', 'in', oldest)
      .executeTakeFirst()
    return Number(numDeletedRows)
  }

  async function insert(records: readonly StoredQuoteRecord[]): Promise<void> {
    const bytes = records.map(({ record }) => Buffer.byteLength(record) + ROW_BYTES)
    let startByte = await size.count(bytes.reduce((sum, each) => sum + each, 0))
    const rows = records.map(({ quoteId, requestedAt, record }, index) => {
      const row = { quote_id: quoteId, requested_at_ms: requestedAt, record, start_byte: startByte }
      startByte += bytes[index] ?? 0
      return row
    })
    const insertion = database.insertInto('quote_records').values(rows)
    // A batch is saved again when its first result is unknown.
    await insertion.onConflict((conflict) => conflict.doNothing()).execute()
  }

  async function isTooLarge(): Promise<boolean> {
    return (await size.used()) > maxBytes
  }

  return {
    async save(records) {
      if (records.length === 0) return
      await insert(records)
      while ((await isTooLarge()) && (await removeOldest(ROOM_ROWS)) > 0) await nextTurn()
    },
    async read(quoteId) {
      const row = await database
        .selectFrom('quote_records')
        .select('record')
        .where('quote_id', '=', quoteId)
        .executeTakeFirst()
      return row?.record
    },
    list: (filter) => readRecordPage(database, filter),
    async pruneSome(before) {
      if ((await removeOldest(BATCH_ROWS, before)) > 0) return true
      return (await isTooLarge()) && (await removeOldest(ROOM_ROWS)) > 0
    },
    usedBytes: size.used,
    close: () => database.destroy(),
  }
}
