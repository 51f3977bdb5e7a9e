import { setTimeout as wait } from 'node:timers/promises'
import SQLite from 'better-sqlite3'
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SelectQueryNode,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import { Mutex } from './mutex.js'

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

/** Longest wait of a statement for another process's lock. */
const LOCK_TIMEOUT_MS = 5000
const RETRY_MS = 20

/**
 * Builds a dialect on one connection. When another process holds the file's lock, statements wait up to 5 s without
 * blocking the event loop. Writes keep their order meanwhile, and reads continue.
 */
export function sqliteDialect(database: SQLite.Database, watch: FileWatch = NO_WATCH): Dialect {
  // SQLite itself would block this thread.
  database.pragma('busy_timeout = 0')
  return {
    createDriver: () => new LockWaitingDriver(new SharedFile(database, watch)),
    createAdapter: () => new TransactionalAdapter(),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createIntrospector: (kysely) => new SqliteIntrospector(kysely),
  }
}

/** Runs and lists migrations in one transaction, so that an interrupted migration changes nothing. */
class TransactionalAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true
  }
}

/** One SQLite connection that several users share. */
class SharedFile {
  readonly database: SQLite.Database
  readonly #watch: FileWatch
  /** Writers wait here for each other, in their order. */
  readonly #writers = new Mutex()
  /** All users of the connection, each for one statement or transaction. */
  readonly #users = new Mutex()

  constructor(database: SQLite.Database, watch: FileWatch) {
    this.database = database
    this.#watch = watch
  }

  /** Runs a statement at once. The caller must exclude other users. */
  run<R>({ sql, parameters }: CompiledQuery): QueryResult<R> {
    try {
      const statement = this.database.prepare(sql)
      if (statement.reader) return { rows: statement.all(parameters) as R[] }
      const { changes, lastInsertRowid } = statement.run(parameters)
      return { numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid), rows: [] }
    } catch (error) {
      if (!isBusy(error)) this.#watch.onFailed(error)
      throw error
    }
  }

  /** Runs a statement after earlier users have finished and no other process holds the lock. */
  async runAlone<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const isWrite = !SelectQueryNode.is(query.query)
    const { result, leave } = await this.#enter<R>(query, isWrite)
    leave()
    if (isWrite) this.#watch.onWritten()
    return result
  }

  /** Begins a transaction. @returns the function that ends the exclusion of others */
  async begin(): Promise<() => void> {
    const { leave } = await this.#enter(BEGIN, true)
    return leave
  }

  commit(): void {
    this.run(COMMIT)
    this.#watch.onWritten()
  }

  /** After some errors, such as a full disk, SQLite has rolled back already. Another rollback would hide the first error. */
  rollback(): void {
    if (this.database.inTransaction) this.run(ROLLBACK)
  }

  async #enter<R>(query: CompiledQuery, isWrite: boolean) {
    const deadline = performance.now() + LOCK_TIMEOUT_MS
    const leaveWriters = isWrite ? await this.#writers.enter() : () => {}
    for (;;) {
      const leaveUsers = await this.#users.enter()
      const leave = () => {
        leaveUsers()
        leaveWriters()
      }
      try {
        if (isWrite) this.#watch.assertUsable()
        return { result: this.run<R>(query), leave }
      } catch (error) {
        if (!isBusy(error) || performance.now() > deadline) {
          leave()
          if (isBusy(error)) this.#watch.onFailed(error)
          throw error
        }
        leaveUsers()
      }
      await wait(RETRY_MS)
    }
  }
}

/** SQLite's plain `begin` fails in a transaction that reads first, when another process writes in between. */
const BEGIN = CompiledQuery.raw('begin immediate')
const COMMIT = CompiledQuery.raw('commit')
const ROLLBACK = CompiledQuery.raw('rollback')

function isBusy(error: unknown): boolean {
  return error instanceof SQLite.SqliteError && /^SQLITE_(BUSY|LOCKED)/.test(error.code)
}

/** The connection that Kysely uses for one statement or one transaction. */
class FileConnection implements DatabaseConnection {
  readonly #file: SharedFile
  #leave: (() => void) | undefined

  constructor(file: SharedFile) {
    this.#file = file
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    return this.#leave === undefined ? this.#file.runAlone(query) : this.#file.run(query)
  }

  // biome-ignore lint/correctness/useYield: Kysely requires the method, and nothing here streams
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new Error('The SQLite driver does not stream rows.')
  }

  async begin(): Promise<void> {
    this.#leave = await this.#file.begin()
  }

  commit(): void {
    this.#file.commit()
    this.end()
  }

  rollback(): void {
    try {
      this.#file.rollback()
    } finally {
      this.end()
    }
  }

  end(): void {
    this.#leave?.()
    this.#leave = undefined
  }
}

class LockWaitingDriver implements Driver {
  readonly #file: SharedFile

  constructor(file: SharedFile) {
    this.#file = file
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<FileConnection> {
    return new FileConnection(this.#file)
  }

  beginTransaction(connection: FileConnection): Promise<void> {
    return connection.begin()
  }

  async commitTransaction(connection: FileConnection): Promise<void> {
    connection.commit()
  }

  async rollbackTransaction(connection: FileConnection): Promise<void> {
    connection.rollback()
  }

  async releaseConnection(connection: FileConnection): Promise<void> {
    connection.end()
  }

  async destroy(): Promise<void> {
    this.#file.database.close()
  }
}
