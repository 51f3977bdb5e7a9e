import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Kysely, Migration } from 'kysely'
import { BATCH_ROWS } from '../database.js'
import { readRecordPage } from './quote-record-reads.js'
import type { QuoteRecordSchema, RecordFilter, StoredQuoteRecord } from './quote-record-store.js'

/** Stores records of quotes, up to a total size. */
export type QuoteRecordStore = ReturnType<typeof createQuoteRecordTable>

/** Rows removed at once to make room. They are few, because a record may have tens of kilobytes. */
const ROOM_ROWS = 10
/** Size of a row without its record: its id, its time, what it is found by, and these in indexes. */
const ROW_BYTES = 500

const TEXT_KEYS = ['user_address', 'input_token', 'output_token', 'outcome'] as const

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
  '002-searchable': {
    async up(db: Kysely<QuoteRecordSchema>) {
      await db.schema.alterTable('quote_records').addColumn('chain_id', 'bigint').execute()
      for (const column of TEXT_KEYS)
        await db.schema.alterTable('quote_records').addColumn(column, 'text').execute()
      await db.schema.dropIndex('quote_records_requested_at').execute()
      // It grows at its end only, so that writes stay cheap. A search reads it in place of the records.
      await db.schema
        .createIndex('quote_records_search')
        .on('quote_records')
        .columns(['requested_at_ms', 'chain_id', ...TEXT_KEYS])
        .execute()
    },
  },
}

/** Builds the store of records over an open database, which it closes at its end. */
export function createQuoteRecordTable(database: Kysely<QuoteRecordSchema>, maxBytes: number) {
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
    let startByte = await countBytes(bytes.reduce((sum, each) => sum + each, 0))
    const rows = records.map((stored, index) => {
      const row = { ...toColumns(stored), start_byte: startByte }
      startByte += bytes[index] ?? 0
      return row
    })
    const insertion = database.insertInto('quote_records').values(rows)
    // A batch is saved again when its first result is unknown.
    await insertion.onConflict((conflict) => conflict.doNothing()).execute()
  }

  /** Counts bytes before they are written. @returns the count before them */
  async function countBytes(bytes: number): Promise<number> {
    const row = await database
      .updateTable('quote_record_bytes')
      .set((update) => ({ written_bytes: update('written_bytes', '+', bytes) }))
      .returning('written_bytes')
      .executeTakeFirstOrThrow()
    return row.written_bytes - bytes
  }

  /**
   * The length of all records from the oldest on. One row counts all bytes ever written, and each record stores the count
   * before it. So the difference is right without a sum, whichever replica removes records.
   */
  async function usedBytes(): Promise<number> {
    const { written_bytes } = await database
      .selectFrom('quote_record_bytes')
      .select('written_bytes')
      .executeTakeFirstOrThrow()
    const oldest = await database
      .selectFrom('quote_records')
      .select('start_byte')
      .orderBy('requested_at_ms')
      .limit(1)
      .executeTakeFirst()
    return oldest === undefined ? 0 : Math.max(0, written_bytes - oldest.start_byte)
  }

  const isTooLarge = async () => (await usedBytes()) > maxBytes

  return {
    /** Saves records, and removes the oldest ones beyond the total size. */
    async save(records: readonly StoredQuoteRecord[]): Promise<void> {
      if (records.length === 0) return
      await insert(records)
      while ((await isTooLarge()) && (await removeOldest(ROOM_ROWS)) > 0) await nextTurn()
    },
    /** @returns the record's JSON */
    async read(quoteId: string): Promise<string | undefined> {
      const row = await database
        .selectFrom('quote_records')
        .select('record')
        .where('quote_id', '=', quoteId)
        .executeTakeFirst()
      return row?.record
    },
    /** Reads a page of a solver's records. Its work is limited, however many records there are. */
    list: (filter: RecordFilter) => readRecordPage(database, filter),
    /**
     * Removes some records: those of quotes requested before a time, or the oldest beyond the total size.
     * @param before Unix time in milliseconds
     * @returns whether there may be more records to remove
     */
    async pruneSome(before: number): Promise<boolean> {
      if ((await removeOldest(BATCH_ROWS, before)) > 0) return true
      return (await isTooLarge()) && (await removeOldest(ROOM_ROWS)) > 0
    },
    /** The bytes that the records use, as the total size counts them. */
    usedBytes,
    close: () => database.destroy(),
  }
}

function toColumns(stored: StoredQuoteRecord) {
  return {
    quote_id: stored.quoteId,
    requested_at_ms: stored.requestedAt,
    record: stored.record,
    chain_id: stored.chainId,
    user_address: stored.user,
    input_token: stored.inputToken,
    output_token: stored.outputToken,
    outcome: stored.outcome,
  }
}
