import type { Clock } from '../../../packages/protocol/src/clock.js'
import type { Logger } from '../../telemetry/log.js'
import { createFileHealth, faultErrorOf } from '../sqlite/file-health.js'
import { openSqliteTables } from '../sqlite/sqlite.js'
import { nameUnavailable } from '../write-health.js'
import type { QuoteRecordSchema } from './quote-record-store.js'
import { createQuoteRecordTable, type QuoteRecordStore, quoteRecordMigrations } from './quote-record-table.js'

/** A record of ten solvers has 2 KiB. It would leave half of a page of 4 KiB empty. */
const PAGE_BYTES = 16_384
/** Most bytes of records without a file. */
const MAX_IN_MEMORY_BYTES = 32 * 2 ** 20

/** The file of records next to a database. */
export function recordFileOf(dbPath: string): string {
  return `${dbPath}-quotes`
}

/**
 * Opens the store of records: a file next to the database. With `:memory:`, the records are in memory, at most 32 MiB. Records that
 * cannot be written because of the file wait for it.
 * @param dbPath the path of the database
 * @param maxBytes limits the records, with what they take in indexes
 * @throws ConfigError when the file cannot be used, or another version wrote it
 */
export async function openQuoteRecordFile(
  dbPath: string,
  maxBytes: number,
  clock: Clock,
  log: Logger,
): Promise<QuoteRecordStore> {
  const isFile = dbPath !== ':memory:'
  const path = isFile ? recordFileOf(dbPath) : dbPath
  const health = createFileHealth(path, clock, log)
  const database = await openSqliteTables<QuoteRecordSchema>(path, {
    migrations: quoteRecordMigrations,
    synchronous: 'NORMAL',
    pageBytes: PAGE_BYTES,
    watch: health,
  })
  // Records that wait are written every second anyway.
  health.start(async () => {})
  const most = isFile ? maxBytes : Math.min(maxBytes, MAX_IN_MEMORY_BYTES)
  const table = createQuoteRecordTable(database, most)
  const close = () => {
    health.close()
    return table.close()
  }
  return nameUnavailable({ ...table, close }, faultErrorOf)
}
