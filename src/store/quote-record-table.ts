import type { Kysely, Migration } from 'kysely'
import type { QuoteRecordStore } from './quote-record-store.js'

export interface QuoteRecordSchema {
  quote_records: {
    quote_id: string
    requested_at_ms: number
    /** JSON of a QuoteRecord. */
    record: string
  }
}

/** Rows removed at once, so that nobody waits long behind it. */
const PRUNE_ROWS = 1000

/** Run as those of the other tables are. */
export const quoteRecordMigrations: Record<string, Migration> = {
  '001-quote-records': {
    async up(db) {
      await db.schema
        .createTable('quote_records')
        .addColumn('quote_id', 'text', (column) => column.primaryKey())
        .addColumn('requested_at_ms', 'bigint', (column) => column.notNull())
        .addColumn('record', 'text', (column) => column.notNull())
        .execute()
      await db.schema
        .createIndex('quote_records_requested_at')
        .on('quote_records')
        .column('requested_at_ms')
        .execute()
    },
  },
}

/** Builds the store of records over an open database, which is closed with it. */
export function createQuoteRecordTable(database: Kysely<QuoteRecordSchema>): QuoteRecordStore {
  async function pruneSome(before: number): Promise<number> {
    const old = database
      .selectFrom('quote_records')
      .select('quote_id')
      .where('requested_at_ms', '<', before)
      .limit(PRUNE_ROWS)
    const { numDeletedRows } = await database
      .deleteFrom('quote_records')
      .where('quote_id', 'in', old)
      .executeTakeFirst()
    return Number(numDeletedRows)
  }

  return {
    async save(records) {
      const rows = records.map(({ quoteId, requestedAt, record }) => ({
        quote_id: quoteId,
        requested_at_ms: requestedAt,
        record,
      }))
      const insert = database.insertInto('quote_records').values(rows)
      // Where nobody could tell whether they had been written, they come again.
      await insert.onConflict((conflict) => conflict.doNothing()).execute()
    },
    async read(quoteId) {
      const row = await database
        .selectFrom('quote_records')
        .select('record')
        .where('quote_id', '=', quoteId)
        .executeTakeFirst()
      return row?.record
    },
    async prune(before) {
      while ((await pruneSome(before)) === PRUNE_ROWS);
    },
    close: () => database.destroy(),
  }
}
