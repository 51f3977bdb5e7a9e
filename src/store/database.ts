import SQLite from 'better-sqlite3'
import { Kysely, type Migration, Migrator, SqliteDialect } from 'kysely'
import { ConfigError } from '../environment.js'
import { migrations, type Schema } from './schema.js'

export type Database = Kysely<Schema>

/**
 * Opens the database and brings its tables up to date.
 * @param path a file, created when it is not there, or `:memory:`, which keeps nothing
 * @throws ConfigError when the file cannot be opened; the migrator's error when a newer version wrote it
 */
export function openDatabase(path: string): Promise<Database> {
  return openTables<Schema>(path, { migrations, synchronous: 'FULL' })
}

/**
 * Opens a file with tables of any kind, as `openDatabase` does.
 * @param options `synchronous` is SQLite's: with `NORMAL` the last writes may be gone after a power failure
 */
export async function openTables<S>(
  path: string,
  options: { readonly migrations: Record<string, Migration>; readonly synchronous: 'FULL' | 'NORMAL' },
): Promise<Kysely<S>> {
  const sqlite = openFile(path)
  sqlite.pragma(`synchronous = ${options.synchronous}`)
  const database = new Kysely<S>({ dialect: new SqliteDialect({ database: sqlite }) })
  const provider = { getMigrations: async () => options.migrations }
  const { error } = await new Migrator({ db: database, provider }).migrateToLatest()
  if (error !== undefined) {
    await database.destroy()
    throw error
  }
  return database
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
