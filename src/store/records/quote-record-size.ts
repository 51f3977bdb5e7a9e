import { type Kysely, sql } from 'kysely'
import type { QuoteRecordSchema } from './quote-record-schema.js'
import type { RecordSize } from './quote-record-table.js'

/** The size of an SQLite file's used pages. Free pages are reused before the file grows. */
export function pagesInUse(database: Kysely<QuoteRecordSchema>): RecordSize {
  const query = sql<{ bytes: number }>`select (page_count - freelist_count) * page_size as bytes
    from pragma_page_count(), pragma_freelist_count(), pragma_page_size()`
  return {
    count: async () => 0,
    async used() {
      const { rows } = await query.execute(database)
      return rows[0]?.bytes ?? 0
    },
  }
}

/**
 * The length of all records from the oldest on, for tables that replicas share. One row counts all bytes ever written, and
 * each record stores the count before it. So the difference is right without a sum, whichever replica removes records.
 */
export function bytesSinceOldest(database: Kysely<QuoteRecordSchema>): RecordSize {
  return {
    async count(bytes) {
      const row = await database
        .updateTable('quote_record_bytes')
        .set((update) => ({ written_bytes: update('written_bytes', '+', bytes) }))
        .returning('written_bytes')
        .executeTakeFirstOrThrow()
      return row.written_bytes - bytes
    },
    async used() {
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
    },
  }
}
