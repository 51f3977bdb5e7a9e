import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type QueryResult,
  SelectQueryNode,
  SqliteAdapter,
  SqliteDialect,
  SqliteDriver,
} from 'kysely'
import { systemClock as clock } from '../../../packages/protocol/src/clock.js'
import { isSqliteError, type SqliteDatabase } from '../../../packages/sqlite/src/sqlite.js'

/** Observes the statements on a file. */
export interface FileWatch {
  /** Called before a write begins. @throws the error with which the write fails */
  assertUsable(): void
  /** Called after a write to the file. */
  onWritten(): void
  /** Called with each error of a statement. */
  onFailed(error: unknown): void
}

const NO_WATCH: FileWatch = { assertUsable() {}, onWritten() {}, onFailed() {} }

/** Longest wait of a write for another process's lock. */
const LOCK_TIMEOUT_MS = 5000
const RETRY_MS = 20
/** SQLite's plain `begin` fails in a transaction that reads first, when another process writes in between. */
const BEGIN = CompiledQuery.raw('begin immediate')

/**
 * Builds a dialect on one connection. When another process holds the file's lock, writes wait up to 5 s without
 * blocking the event loop or reads.
 */
export function sqliteDialect(database: SqliteDatabase, watch: FileWatch = NO_WATCH): Dialect {
  // SQLite itself would block this thread.
  database.pragma('busy_timeout = 0')
  const dialect = new SqliteDialect({ database })
  return {
    createDriver: () => new WatchedDriver(database, watch),
    createAdapter: () => new TransactionalAdapter(),
    createQueryCompiler: () => dialect.createQueryCompiler(),
    createIntrospector: (kysely) => dialect.createIntrospector(kysely),
  }
}

/** Runs and lists migrations in one transaction, so that an interrupted migration changes nothing. */
class TransactionalAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true
  }
}

/** Kysely's driver, whose statements wait for the lock and are watched. */
class WatchedDriver extends SqliteDriver {
  readonly #database: SqliteDatabase
  readonly #watch: FileWatch

  constructor(database: SqliteDatabase, watch: FileWatch) {
    super({ database })
    this.#database = database
    this.#watch = watch
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    const connection = await super.acquireConnection()
    return {
      executeQuery: (query) => this.#execute(connection, query),
      streamQuery: (query, chunkSize) => connection.streamQuery(query, chunkSize),
    }
  }

  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(BEGIN)
  }

  /** After some errors, such as a full disk, SQLite has rolled back already. Another rollback would hide the first error. */
  override async rollbackTransaction(): Promise<void> {
    if (this.#database.inTransaction) this.#database.exec('rollback')
  }

  async #execute<R>(connection: DatabaseConnection, query: CompiledQuery): Promise<QueryResult<R>> {
    const isWrite = !SelectQueryNode.is(query.query)
    const deadline = clock.monotonic() + LOCK_TIMEOUT_MS
    for (;;) {
      try {
        if (isWrite) this.#watch.assertUsable()
        const result = await connection.executeQuery<R>(query)
        if (isWrite && !this.#database.inTransaction) this.#watch.onWritten()
        return result
      } catch (error) {
        const mayPass = isBusy(error) && !this.#database.inTransaction && clock.monotonic() <= deadline
        if (!mayPass) this.#watch.onFailed(error)
        if (!mayPass) throw error
      }
      // So that reads go on.
      await this.releaseConnection()
      await clock.sleep(RETRY_MS)
      await super.acquireConnection()
    }
  }
}

/** Whether another connection holds the file's lock. */
export function isBusy(error: unknown): boolean {
  return isSqliteError(error) && /^SQLITE_(BUSY|LOCKED)/.test(error.code)
}
