import type { QuoteRecordSchema } from './quote-record-schema.js'
import { pagesInUse } from './quote-record-size.js'
import type { QuoteRecordStore } from './quote-record-store.js'
import { createQuoteRecordTable, quoteRecordMigrations } from './quote-record-table.js'
import { openSqliteTables } from './sqlite.js'

/** The file of records and its largest size. */
export interface QuoteRecordFile {
  /** `:memory:` for none. */
  readonly path: string
  /** Largest size of the file, without the write-ahead log next to it. */
  readonly maxBytes: number
}

/** A record of ten solvers has 2 KiB. It would leave half of a page of 4 KiB empty. */
const PAGE_BYTES = 16_384

/**
 * Opens the file of records for this thread.
 * @throws the errors of `openSqlite`
 */
export async function openQuoteRecordTable({ path, maxBytes }: QuoteRecordFile): Promise<QuoteRecordStore> {
  const tables = { migrations: quoteRecordMigrations, synchronous: 'NORMAL', pageBytes: PAGE_BYTES } as const
  const database = await openSqliteTables<QuoteRecordSchema>(path, tables)
  return createQuoteRecordTable(database, { size: pagesInUse(database), maxBytes })
}
