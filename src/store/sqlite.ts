import SQLite from 'better-sqlite3'
import { type Kysely, SqliteDialect } from 'kysely'
import { ConfigError } from '../environment.js'
import { type Database, openTables, type TableSet } from './database.js'
import { migrations, type Schema } from './schema.js'

/**
 * Opens the database in a file, and brings its tables up to date.
 * @param path a file, created when it is not there, or `:memory:`, which keeps nothing
 * @throws ConfigError when the file cannot be opened; the migrator's error when a newer version wrote it
 */
export function openSqlite(path: string): Promise<Database> {
  return openSqliteTables<Schema>(path, { migrations, synchronous: 'FULL' })
}

/**
 * Opens a file with tables of any kind, as `openSqlite` does.
 * @param options `synchronous` is SQLite's: with `NORMAL` the last writes may be gone after a power failure
 */
export async function openSqliteTables<S>(
  path: string,
  options: TableSet & { readonly synchronous: 'FULL' | 'NORMAL' },
): Promise<Kysely<S>> {
  const sqlite = openFile(path)
  sqlite.pragma(`synchronous = ${options.synchronous}`)
  return openTables<S>(new SqliteDialect({ database: sqlite }), options)
}

function openFile(path: string): SQLite.Database {
  try {
    const sqlite = new SQLite(path)
    sqlite.pragma('journal_mode = WAL')
    return sqlite
  } catch (error) {
    throw new ConfigError([
      { variable: 'DB_PATH', message: `is ${path}, which cannot be opened: ${(error as Error).message}` },
    ])
  }
}
