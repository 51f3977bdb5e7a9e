import { closeSync, existsSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Kysely } from 'kysely'
import { openSqliteFile, type SqliteDatabase } from '../../../packages/sqlite/src/sqlite.js'
import { ConfigError } from '../../config/environment.js'
import { type Database, openTables, type TableSet, UnusableTablesError } from '../database.js'
import { migrations } from '../migrations.js'
import type { Schema } from '../schema.js'
import { faultErrorOf } from './file-health.js'
import { type FileWatch, sqliteDialect } from './sqlite-driver.js'

/**
 * Opens the database in a file and migrates its tables.
 * @param path a file, which is created if it does not exist, or `:memory:`, which stores nothing
 * @throws ConfigError when the file cannot be used, or another version wrote it
 */
export function openSqlite(path: string, watch?: FileWatch): Promise<Database> {
  return openSqliteTables<Schema>(path, { migrations, synchronous: 'FULL', watch })
}

/**
 * Opens a file with tables of any kind, like `openSqlite`.
 * @param options `synchronous` is SQLite's: with `NORMAL`, a power failure may lose the last writes. `pageBytes` is the page
 *   size of a new file
 */
export async function openSqliteTables<S>(
  path: string,
  options: TableSet & {
    readonly synchronous: 'FULL' | 'NORMAL'
    readonly pageBytes?: number
    readonly watch?: FileWatch | undefined
  },
): Promise<Kysely<S>> {
  try {
    const sqlite = openFile(path, options.pageBytes ?? DEFAULT_PAGE_BYTES)
    sqlite.pragma(`synchronous = ${options.synchronous}`)
    return await openTables<S>(sqliteDialect(sqlite, options.watch), options)
  } catch (error) {
    throw toConfigError(path, error)
  }
}

/** SQLite's default. */
const DEFAULT_PAGE_BYTES = 4096
/** Size at which the write-ahead log is copied into the file. SQLite counts pages, 1000 by default. */
const WAL_BYTES = 1000 * DEFAULT_PAGE_BYTES

function openFile(path: string, pageBytes: number): SqliteDatabase {
  if (!existsSync(dirname(path)))
    throw refused(path, 'cannot be opened: its folder does not exist: create it')
  createForOwner(path)
  const sqlite = openSqliteFile(path)
  try {
    // The page size must be set first, because it cannot change after the file has a write-ahead log.
    sqlite.pragma(`page_size = ${pageBytes}`)
    sqlite.pragma('journal_mode = WAL')
    sqlite.pragma(`wal_autocheckpoint = ${WAL_BYTES / pageBytes}`)
    return sqlite
  } catch (error) {
    sqlite.close()
    throw error
  }
}

/**
 * Creates a file that only its owner may read: it has keys, and addresses of users. SQLite's files beside it get the same rights. A file
 * that exists keeps its own. Errors are left to the one who opens it.
 */
export function createForOwner(path: string): void {
  if (path === ':memory:' || existsSync(path)) return
  try {
    closeSync(openSync(path, 'a', 0o600))
  } catch {}
}

/** @throws ConfigError when the folder of a file does not exist, or the file is a folder itself */
export function assertFolder(path: string): void {
  if (existsSync(path) && statSync(path).isDirectory())
    throw refused(path, 'cannot be opened: it is a folder: name a file in it')
  if (!existsSync(dirname(path)))
    throw refused(path, 'cannot be opened: its folder does not exist: create it')
}

/** @returns an error with the file, the cause and the remedy, if the file is the cause; otherwise the same error */
export function toConfigError(path: string, error: unknown): unknown {
  if (error instanceof UnusableTablesError) return refused(path, error.message)
  const fault = faultErrorOf(error)
  return fault === undefined ? error : refused(path, `cannot be opened: ${fault.message}`, error)
}

function refused(path: string, message: string, cause?: unknown): ConfigError {
  return new ConfigError([{ variable: 'DB_PATH', message: `is ${path}, which ${message}` }], { cause })
}
