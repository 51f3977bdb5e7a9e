import { Kysely } from 'kysely'
import pg from 'pg'
import { unknownMigrations } from '../database.js'
import type { QuoteRecordSchema } from '../records/quote-record-store.js'
import type { Schema } from '../schema.js'
import { readContent, type StoredContent } from '../stored-content.js'
import { connectionOptions, createConnectionPool, SERVER_LIMITS } from './postgres.js'
import { POSTGRES_TABLES } from './postgres-stores.js'

/** State of a PostgreSQL server and of the tables that replicas share there. */
export interface PostgresState {
  /** In the server's form, such as `17.5`. */
  readonly version: string
  readonly majorVersion: number
  readonly user: string
  readonly database: string
  /** The schema of new tables; null when the search path has no existing schema. */
  readonly schema: string | null
  readonly mayCreate: boolean
  /** Whether every user of the server may connect to the database: PostgreSQL's default. */
  readonly isOpenToAll: boolean
  /** Whether every user who may connect may create objects in the schema: the default before PostgreSQL 15. */
  readonly isWritableByAll: boolean
  /** Whether the server accepts no writes, like a standby. */
  readonly isReadOnly: boolean
  /** Whether tables of any version exist. */
  readonly hasTables: boolean
  /** Tables that the user may not read and write. */
  readonly forbidden: readonly string[]
  /** Why this version cannot use the tables; undefined when it knows all migrations, and while a table is forbidden. */
  readonly unknown: string | undefined
  /** Names of migrations that this version would run. */
  readonly pending: readonly string[]
  /** The most connections of all users without special rights together. */
  readonly maxConnections: number
  /** The number of free connections. */
  readonly freeConnections: number
}

const TABLE_SETS = Object.values(POSTGRES_TABLES)
const TABLES: Readonly<Record<keyof Schema | keyof QuoteRecordSchema | 'rate_limits', true>> = {
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
  quote_records: true,
  quote_record_bytes: true,
  rate_limits: true,
}

/** Values that every user may read. The connection of this query does not count as used. */
const SERVER = `select current_setting('server_version') as version,
    current_setting('server_version_num')::int / 10000 as "majorVersion",
    current_user as "user",
    current_database() as database,
    current_schema() as schema,
    coalesce(has_schema_privilege(current_schema(), 'create'), false) as "mayCreate",
    has_database_privilege('public', current_database(), 'connect') as "isOpenToAll",
    coalesce(has_schema_privilege('public', current_schema(), 'create'), false) as "isWritableByAll",
    current_setting('transaction_read_only')::boolean as "isReadOnly",
    open_to_all as "maxConnections",
    greatest(0, open_to_all - (select sum(numbackends) from pg_stat_database)::int + 1) as "freeConnections"
  from (select current_setting('max_connections')::int
    - current_setting('superuser_reserved_connections')::int
    - coalesce(current_setting('reserved_connections', true), '0')::int as open_to_all) as room`
const RIGHTS = `select name, has_table_privilege(id, 'select') and has_table_privilege(id, 'insert')
    and has_table_privilege(id, 'update') and has_table_privilege(id, 'delete') as is_allowed
  from (select name, to_regclass(name) as id from unnest($1::text[]) as name) as tables
  where id is not null`

/**
 * A read-only connection with the options of `serve`.
 * @throws Error when the URL is malformed, or names a file that cannot be read
 */
export function createPostgresReader(databaseUrl: string) {
  const client = new pg.Client(connectionOptions(databaseUrl))
  // The statement fails as well and reports the error.
  client.on('error', () => {})
  return {
    /** Host and port, such as `db.example:5432`. */
    address: `${client.host}:${client.port}`,
    /** Reads the state without changes. @throws pg's error; within seconds when the server does not answer */
    async read(): Promise<PostgresState> {
      try {
        await client.connect()
        await client.query(SERVER_LIMITS)
        return await readState(client)
      } finally {
        client.end().catch(() => {})
      }
    },
  }
}

async function readState(client: pg.Client): Promise<PostgresState> {
  const { rows } = await client.query(SERVER)
  const notes = TABLE_SETS.flatMap(({ migrationTable }) => [migrationTable, `${migrationTable}_lock`])
  const tables = await client.query(RIGHTS, [[...notes, ...Object.keys(TABLES)]])
  const forbidden = tables.rows.filter(({ is_allowed }) => !is_allowed).map(({ name }) => name)
  const present = tables.rows.map(({ name }) => name)
  const noted =
    forbidden.length > 0 ? { unknown: undefined, pending: [] } : await readMigrations(client, present)
  return { ...rows[0], hasTables: present.length > 0, forbidden, ...noted }
}

async function readMigrations(client: pg.Client, present: readonly string[]) {
  const unknown: (string | undefined)[] = []
  const pending: string[] = []
  for (const { migrations, migrationTable } of TABLE_SETS) {
    const { rows } = present.includes(migrationTable)
      ? await client.query(`select name from ${migrationTable} order by name`)
      : { rows: [] }
    const applied: string[] = rows.map(({ name }) => name)
    unknown.push(unknownMigrations(applied, migrations))
    pending.push(...Object.keys(migrations).filter((name) => !applied.includes(name)))
  }
  return { unknown: unknown.find((text) => text !== undefined), pending }
}

/** Reads the content of a PostgreSQL with the tables of this version. */
export async function readSharedContent(databaseUrl: string): Promise<StoredContent> {
  const pool = createConnectionPool(databaseUrl)
  try {
    return await readContent(new Kysely<Schema>({ dialect: pool.dialect() }))
  } finally {
    await pool.close()
  }
}
