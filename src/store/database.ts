import SQLite from 'better-sqlite3'
import { Kysely, Migrator, SqliteDialect } from 'kysely'
import { migrations, type Schema } from './schema.js'

export type Database = Kysely<Schema>

/**
 * Opens the database and brings its tables up to date.
 * @param path a file, created when it is not there, or `:memory:`, which keeps nothing
 * @throws when the file cannot be opened, or was written by a newer version
 */
export async function openDatabase(path: string): Promise<Database> {
  const sqlite = new SQLite(path)
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
