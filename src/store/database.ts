import SQLite from 'better-sqlite3'
import { Kysely, Migrator, SqliteDialect } from 'kysely'
import { ConfigError } from '../environment.js'
import { migrations, type Schema } from './schema.js'

export type Database = Kysely<Schema>

/**
 * Opens the database and brings its tables up to date.
 * @param path a file, created when it is not there, or `:memory:`, which keeps nothing
 * @throws ConfigError when the file cannot be opened; the migrator's error when a newer version wrote it
 */
export async function openDatabase(path: string): Promise<Database> {
  const sqlite = openFile(path)
  sqlite.pragma('journal_mode = WAL')
  sqlite.pragma('synchronous = FULL')
  const database = new Kysely<Schema>({ dialect: new SqliteDialect({ database: sqlite }) })
  const migrator = new Migrator({ db: database, provider: { getMigrations: async () => migrations } })
  const { error } = await migrator.migrateToLatest()
  if (error !== undefined) {
    await database.destroy()
    throw error
  }
  return database
}

function openFile(path: string): SQLite.Database {
  try {
    return new SQLite(path)
  } catch (error) {
    throw new ConfigError([
      { variable: 'DB_PATH', message: `is ${path}, which cannot be opened: ${(error as Error).message}` },
    ])
  }
}
