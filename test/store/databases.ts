import { randomBytes } from 'node:crypto'
import { Kysely, sql } from 'kysely'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import {
  type Coordination,
  type Database,
  NO_COORDINATION,
  openTables,
  type TableSet,
} from '../../src/store/database.js'
import { migrations } from '../../src/store/migrations.js'
import {
  type ConnectionPool,
  createConnectionPool,
  POSTGRES_COORDINATION,
} from '../../src/store/postgres/postgres.js'
import { POSTGRES_TABLES } from '../../src/store/postgres/postgres-stores.js'
import type { Schema } from '../../src/store/schema.js'
import { openSqliteTables } from '../../src/store/sqlite/sqlite.js'
import { createPostgresDatabase, makeDatabase } from '../support/databases/postgres-database.js'
import { temporaryFile } from '../support/databases/temporary-file.js'

/** A database of one test, empty at first. */
export interface TestDatabase {
  /** Opens it separately, like each process, with the service's migrated tables. */
  open(): Promise<OpenDatabase<Schema>>
}

/** A database without any tables at first. */
export interface NewDatabase extends TestDatabase {
  /** The service's tables. */
  readonly tables: TableSet
  /** Opens and migrates tables: the service's own unless others are given. */
  open<S = Schema>(tables?: TableSet): Promise<OpenDatabase<S>>
}

export interface OpenDatabase<S> {
  readonly database: Kysely<S>
  readonly coordination: Coordination
  /** The end of the test closes it, if it is still open. */
  close(): Promise<void>
}

/** Call it in a `describe` or for a whole file. It returns the function with which each test gets its database. */
type Kind<T = TestDatabase> = () => () => Promise<T>

/** All tables except those of applied migrations. */
const NAMES = Object.keys({
  solvers: true,
  solver_timestamps: true,
  listed_solvers: true,
  api_keys: true,
  event_log: true,
  events: true,
  orders: true,
  solver_order_hours: true,
  solver_hours: true,
  offer_nonces: true,
  chain_positions: true,
  chain_headers: true,
  chain_leaders: true,
  solver_bonds: true,
  record_keys: true,
  replicas: true,
  replica_keys: true,
} satisfies Record<keyof Schema, true>)

/** SQLite at a path. With `:memory:`, each opening is a separate database. */
export function sqliteAt(path: string): NewDatabase {
  const own = { migrations }
  return {
    tables: own,
    async open<S>(tables: TableSet = own) {
      const database = await openSqliteTables<S>(path, { ...tables, synchronous: 'FULL' })
      return { database, coordination: NO_COORDINATION, close: closedWithTest(() => database.destroy()) }
    },
  }
}

/** PostgreSQL at a URL. Each opening has its own connections. */
export function postgresAt(url: string): NewDatabase {
  return {
    tables: POSTGRES_TABLES.main,
    async open<S>(tables: TableSet = POSTGRES_TABLES.main) {
      const pool = createConnectionPool(url)
      const close = closedWithTest(pool.close)
      const database = await openTables<S>(pool.dialect(), tables)
      return { database, coordination: POSTGRES_COORDINATION, close }
    },
  }
}

/**
 * PostgreSQL. All tests of a `describe` share one database and its connections, and find its tables empty. A migrated
 * database for each test would take ten times as long.
 */
export const inPostgres: Kind<TestDatabase & { readonly url: string }> = () => {
  let made: Awaited<ReturnType<typeof makeDatabase>>
  let pool: ConnectionPool
  let database: Database
  beforeAll(async () => {
    made = await makeDatabase()
    pool = createConnectionPool(made.url)
    database = await openTables(pool.dialect(), POSTGRES_TABLES.main)
  })
  afterAll(async () => {
    await pool.close()
    await made.drop()
  })

  async function open(): Promise<OpenDatabase<Schema>> {
    const database = new Kysely<Schema>({ dialect: pool.dialect() })
    const close = closedWithTest(() => database.destroy())
    return { database, coordination: POSTGRES_COORDINATION, close }
  }

  return async () => {
    await sql`truncate ${sql.join(NAMES.map((name) => sql.table(name)))}`.execute(database)
    const log = { log_id: randomBytes(6).toString('base64url'), last_sequence: 0, pruned_sequence: 0 }
    await database.insertInto('event_log').values(log).execute()
    await database
      .insertInto('record_keys')
      .values({ record_key: '00'.repeat(16) })
      .execute()
    await database
      .insertInto('replica_keys')
      .values({ replica_key: '00'.repeat(32) })
      .execute()
    return { url: made.url, open }
  }
}

const inMemory: Kind = () => async () => sqliteAt(':memory:')
const inFile: Kind = () => async () => sqliteAt(temporaryFile())

/** The durable kinds, for `describe.each`. */
export const DURABLE_DATABASES: [string, Kind][] = [
  ['in a file', inFile],
  ['in PostgreSQL', inPostgres],
]

/** One kind of SQLite and one of PostgreSQL, for `describe.each`. */
export const BOTH_DATABASES: [string, Kind][] = [
  ['in memory', inMemory],
  ['in PostgreSQL', inPostgres],
]

/** Databases that are created for one test each, for tests of the tables themselves. */
export const NEW_DATABASES: [string, () => Promise<NewDatabase>][] = [
  ['SQLite', async () => sqliteAt(temporaryFile())],
  ['PostgreSQL', async () => postgresAt(await createPostgresDatabase())],
]

/** @returns a function that closes once, and runs at the end of the test at the latest */
function closedWithTest(close: () => Promise<void>): () => Promise<void> {
  let closed: Promise<void> | undefined
  const closeOnce = () => {
    closed ??= close()
    return closed
  }
  onTestFinished(closeOnce)
  return closeOnce
}
