import { randomBytes } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { ALONE, type Coordination, openTables, type TableSet } from '../../src/store/database.js'
import { type ConnectionPool, createConnectionPool, POSTGRES_COORDINATION } from '../../src/store/postgres.js'
import { migrations, type Schema } from '../../src/store/schema.js'
import { openSqliteTables } from '../../src/store/sqlite.js'
import { makeDatabase } from '../postgres-database.js'
import { temporaryFile } from './temporary-file.js'

/** A database of one test, empty at first. */
export interface TestDatabase {
  /** Opens it by itself, as each process does, and brings tables up to date: the service's own unless others are given. */
  open<S = Schema>(tables?: TableSet): Promise<OpenDatabase<S>>
}

export interface OpenDatabase<S> {
  readonly database: Kysely<S>
  readonly coordination: Coordination
  /** The end of the test does it for whoever has not. */
  close(): Promise<void>
}

/** Called in a `describe`; gives what each of its tests calls for a database. */
type Kind = () => () => Promise<TestDatabase>

const TABLES = Object.keys({
  solvers: true,
  solver_timestamps: true,
  event_log: true,
  events: true,
  chain_positions: true,
  chain_headers: true,
  solver_benches: true,
  chain_readers: true,
} satisfies Record<keyof Schema, true>)
const SERVICE: TableSet = { migrations }

/** SQLite at a path; with `:memory:`, each opening is of a database of its own. */
export function sqliteAt(path: string): TestDatabase {
  return {
    async open<S>(tables = SERVICE) {
      const database = await openSqliteTables<S>(path, { ...tables, synchronous: 'FULL' })
      return { database, coordination: ALONE, close: closedWithTest(() => database.destroy()) }
    },
  }
}

/** PostgreSQL at a URL: each opening has connections of its own. */
export function postgresAt(url: string): TestDatabase {
  return {
    async open<S>(tables = SERVICE) {
      const pool = createConnectionPool(url)
      const close = closedWithTest(pool.close)
      const opened = await openOn<S>(pool, tables)
      return { ...opened, close: () => opened.close().then(close) }
    },
  }
}

/**
 * PostgreSQL. All tests of a `describe` have the same database and connections, and find its tables empty: a database
 * for each would take five times as long.
 */
const inPostgres: Kind = () => {
  let made: Awaited<ReturnType<typeof makeDatabase>>
  let pool: ConnectionPool
  beforeAll(async () => {
    made = await makeDatabase()
    pool = createConnectionPool(made.url)
  })
  afterAll(async () => {
    await pool.close()
    await made.drop()
  })
  return async () => {
    const { database } = await openOn<Schema>(pool, SERVICE)
    await sql`truncate ${sql.join(TABLES.map(sql.table))}`.execute(database)
    const log = { log_id: randomBytes(6).toString('base64url'), last_sequence: 0, pruned_sequence: 0 }
    await database.insertInto('event_log').values(log).execute()
    return { open: (tables = SERVICE) => openOn(pool, tables) }
  }
}

async function openOn<S>(pool: ConnectionPool, tables: TableSet): Promise<OpenDatabase<S>> {
  const database = await openTables<S>(pool.dialect(), tables)
  const close = closedWithTest(() => database.destroy())
  return { database, coordination: POSTGRES_COORDINATION, close }
}

const inMemory: Kind = () => async () => sqliteAt(':memory:')
const inFile: Kind = () => async () => sqliteAt(temporaryFile())

/** The kinds that keep what is written, for `describe.each`. */
export const DURABLE_DATABASES: [string, Kind][] = [
  ['in a file', inFile],
  ['in PostgreSQL', inPostgres],
]

/** All kinds, for `describe.each`. */
export const DATABASES: [string, Kind][] = [['in memory', inMemory], ...DURABLE_DATABASES]

/** @returns what closes, once, and by the end of the test at the latest */
function closedWithTest(close: () => Promise<void>): () => Promise<void> {
  let closed: Promise<void> | undefined
  const closeOnce = () => {
    closed ??= close()
    return closed
  }
  onTestFinished(closeOnce)
  return closeOnce
}
