import SQLite from 'better-sqlite3'
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Kysely,
  SqliteAdapter,
  SqliteDriver,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
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
 * @param options `synchronous` is SQLite's: with `NORMAL` the last writes may be gone after a power failure.
 *   `pageBytes` is the page size of a new file
 */
export async function openSqliteTables<S>(
  path: string,
  options: TableSet & { readonly synchronous: 'FULL' | 'NORMAL'; readonly pageBytes?: number },
): Promise<Kysely<S>> {
  const sqlite = openFile(path, options.pageBytes ?? DEFAULT_PAGE_BYTES)
  sqlite.pragma(`synchronous = ${options.synchronous}`)
  return openTables<S>(sqliteDialect(sqlite), options)
}

/**
 * A dialect whose transactions wait for other processes at their beginning, 5 s at most. SQLite's own would fail at once
 * when they read first, and another process writes before they do.
 */
export function sqliteDialect(database: SQLite.Database): Dialect {
  return {
    createDriver: () => new ImmediateDriver(database),
    createAdapter: () => new SqliteAdapter(),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createIntrospector: (kysely) => new SqliteIntrospector(kysely),
  }
}

class ImmediateDriver extends SqliteDriver {
  readonly #database: SQLite.Database

  constructor(database: SQLite.Database) {
    super({ database })
    this.#database = database
  }

  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'))
  }

  /** After some errors, such as a full disk, SQLite has rolled back: another rollback would hide the first error. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#database.inTransaction) await super.rollbackTransaction(connection)
  }
}

/** SQLite's own. */
const DEFAULT_PAGE_BYTES = 4096
/** The write-ahead log is copied into the file when it has this size. SQLite counts pages, 1000 by default. */
const WAL_BYTES = 1000 * DEFAULT_PAGE_BYTES

function openFile(path: string, pageBytes: number): SQLite.Database {
  try {
    const sqlite = new SQLite(path)
    // The page size must be set first: it cannot change once the file has a write-ahead log.
    sqlite.pragma(`page_size = ${pageBytes}`)
    sqlite.pragma('journal_mode = WAL')
    sqlite.pragma(`wal_autocheckpoint = ${WAL_BYTES / pageBytes}`)
    return sqlite
  } catch (error) {
    throw new ConfigError([
      { variable: 'DB_PATH', message: `is ${path}, which cannot be opened: ${(error as Error).message}` },
    ])
  }
}
