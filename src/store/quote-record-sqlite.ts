import type { QuoteRecordStore } from './quote-record-store.js'
import {
  createQuoteRecordTable,
  type QuoteRecordSchema,
  quoteRecordMigrations,
} from './quote-record-table.js'
import { openSqliteTables } from './sqlite.js'

/**
 * Opens the file of records, and writes and reads it in this thread.
 * @throws as `openSqlite` does
 */
export async function openQuoteRecordTable(path: string): Promise<QuoteRecordStore> {
  const tables = { migrations: quoteRecordMigrations, synchronous: 'NORMAL' } as const
  return createQuoteRecordTable(await openSqliteTables<QuoteRecordSchema>(path, tables))
}
