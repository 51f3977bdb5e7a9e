import { CompiledQuery, PostgresDialect, type PostgresPoolClient } from 'kysely'
import pg from 'pg'
import type { Clock } from '../../../packages/protocol/src/clock.js'
import { ConfigError } from '../../config/environment.js'
import { destroyConnection } from '../../internals/pg.js'
import type { Logger } from '../../telemetry/log.js'
import type { Coordination } from '../database.js'
import { createWriteHealth, type Fault, nameUnavailable } from '../write-health.js'

/** Most statements at once. Each uses one connection to the database. */
const MAX_CONNECTIONS = 10
const CONNECT_TIMEOUT_MS = 2000
/** A statement without an answer after this time has failed. No statement of the service takes a tenth of it. */
const QUERY_TIMEOUT_MS = 5000
const APPLICATION = 'quote-aggregator'
/**
 * Limits on the server's side. The server rolls back the transaction of a replica that is frozen or unreachable, because
 * others wait for its locks. It stops a statement when the client does. Otherwise its processes would accumulate while
 * they wait for a lock. These are statements, because a pooler in between may reject them as connection parameters.
 */
export const SERVER_LIMITS = `set idle_in_transaction_session_timeout = 3000; set statement_timeout = ${QUERY_TIMEOUT_MS}`

/** Connections for one statement or transaction each. */
export type ConnectionPool = ReturnType<typeof createConnectionPool>

/** Options of all connections. 64-bit integers are read as numbers, because all of them are below 2^53. */
export function connectionOptions(databaseUrl: string): pg.ClientConfig {
  return {
    connectionString: databaseUrl,
    application_name: APPLICATION,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    keepAlive: true,
    types: { getTypeParser: (oid, format) => (oid === INT8 ? Number : pg.types.getTypeParser(oid, format)) },
  }
}

/**
 * Two connections have one process of the server where a pooler shares connections by transaction. Locks, settings and
 * notifications need a process of their own. Other users of the pooler at this moment can hide it.
 * @throws ConfigError when the pooler does so, pg's error when the database cannot be used
 */
export async function assertPooledBySession(databaseUrl: string): Promise<void> {
  const clients = [1, 2].map(() => new pg.Client(connectionOptions(databaseUrl)).on('error', () => {}))
  const processes = new Set<number>()
  try {
    for (const client of clients) {
      await client.connect()
      processes.add((await client.query('select pg_backend_pid() as pid')).rows[0].pid)
    }
  } finally {
    for (const client of clients) destroyConnection(client)
  }
  if (processes.size < 2) throw new ConfigError([{ variable: 'DATABASE_URL', message: NOT_BY_SESSION }])
}

const NOT_BY_SESSION =
  'leads to a pooler that shares connections by transaction. It must pool by session: pool_mode = session'
const INT8: number = pg.types.builtins.INT8

/**
 * Builds the pool. It connects on the first use.
 * @param onUnsent called when a transaction was committed, and its notification could not be sent
 */
export function createConnectionPool(databaseUrl: string, onUnsent = (_error: Error) => {}) {
  let current = open()

  function open(): pg.Pool {
    const options = {
      max: MAX_CONNECTIONS,
      onConnect: (client: pg.ClientBase) => client.query(SERVER_LIMITS),
    }
    const pool = new pg.Pool({ ...connectionOptions(databaseUrl), ...options })
    // An idle connection that fails is replaced by the pool. A connection in use reports the error to its user.
    return pool.on('error', () => {}).on('connect', (client) => client.on('error', () => {}))
  }

  return {
    /** A dialect for one Kysely. Its end does not close the pool. */
    dialect: (): PostgresDialect =>
      new PostgresDialect({ pool: { connect: () => borrow(current, onUnsent), end: async () => {} } }),
    /** Replaces the existing connections, whose answers may never come, by new ones. */
    renew(): void {
      void current.end()
      current = open()
    },
    close: (): Promise<void> => current.end(),
  }
}

/** Classes of SQLSTATE that concern the server, not the statement: connection, resources, operator, read-only mode. */
const SERVER_ERRORS = /^(08|53|57|25006)/
/** The errors of connections that failed or could not be opened. */
const connectionErrors = new WeakSet<Error>()

export function isOfServer(error: Error): boolean {
  return !(error instanceof pg.DatabaseError) || SERVER_ERRORS.test(error.code ?? '')
}

/**
 * A connection for one transaction. It is destroyed at the first statement without an answer. Otherwise later statements
 * would wait for that one, and the connection's next user would find the transaction still open. Notifications wait for
 * the commit: while the server's queue of them is full, which any other database can bring about, they fail.
 */
async function borrow(pool: pg.Pool, onUnsent: (error: Error) => void): Promise<PostgresPoolClient> {
  const client = await pool.connect().catch((error) => {
    if (isOfServer(error)) connectionErrors.add(error)
    throw error
  })
  let failure: Error | undefined
  const unsent: unknown[][] = []
  async function run(text: string, values: unknown[]): Promise<unknown> {
    // For a rollback, so that the user gets the error that caused it.
    if (failure !== undefined) throw failure
    try {
      return await client.query(text, values)
    } catch (thrown) {
      const error = thrown as Error
      // A value that cannot be sent is a mistake of the statement.
      if (isOfServer(error) && !(error instanceof TypeError)) {
        failure = error
        connectionErrors.add(error)
        destroyConnection(client)
      }
      throw error
    }
  }
  async function query(text: string, values: unknown[]): Promise<unknown> {
    if (text === NOTIFY) return { command: 'SELECT', rows: [], rowCount: unsent.push(values) }
    const result = await run(text, values)
    if (text === 'commit') for (const message of unsent.splice(0)) await run(NOTIFY, message).catch(onUnsent)
    return result
  }
  return { query: query as PostgresPoolClient['query'], release: () => client.release(failure) }
}

/** The notification channel of a topic: only those can name it who may read the tables. */
const CHANNEL = `'quote_aggregator_' || pg_catalog.left(pg_catalog.encode(pg_catalog.sha256(
  pg_catalog.convert_to(replica_key || topic, 'UTF8')), 'hex'), 40)`
/** Reads the channel of each topic. Its parameter is the list of them. */
export const CHANNELS = `select topic, ${CHANNEL} as channel from replica_keys, pg_catalog.unnest($1::text[]) as topic`
/** Sends a message. Its parameters are the topic and the text. */
export const NOTIFY = `select pg_catalog.pg_notify(${CHANNEL}, $2::text) from replica_keys, (select $1::text as topic) named`
/** Makes the key of a lock from the name in a parameter or column. Other programs in the same database use other names. */
export const lockKey = (name: string) =>
  `pg_catalog.hashtextextended('quote-aggregator ' || ${name}::text, 0::bigint)`

/** Coordination of several processes by PostgreSQL. Locks end with the transaction. Notifications are sent after it. */
export const POSTGRES_COORDINATION: Coordination = {
  async serialize(transaction, name) {
    const statement = `select pg_catalog.pg_advisory_xact_lock(${lockKey('$1')})`
    await transaction.executeQuery(CompiledQuery.raw(statement, [name]))
  },
  async notify(transaction, topic, text) {
    await transaction.executeQuery(CompiledQuery.raw(NOTIFY, [topic, text]))
  },
}

/**
 * Wraps a store, so that its errors name an unreachable PostgreSQL as their cause, like `nameUnavailable`.
 * @param note called with each error
 */
export function mapConnectionErrors<S extends object>(
  store: S,
  note: (error: unknown) => void = () => {},
): S {
  return nameUnavailable(store, (error) => {
    note(error)
    return error instanceof Error && connectionErrors.has(error) ? error : undefined
  })
}

/** Faults by the beginning of their SQLSTATE. */
const FAULTS: readonly [RegExp, Fault][] = [
  [/^25006/, { text: 'it is read-only: connect to the primary, or promote this standby', isLasting: false }],
  [/^53100/, { text: 'its disk is full: make room', isLasting: false }],
  [/^53/, { text: 'it lacks memory, connections or another resource: its log says which', isLasting: false }],
]

/** Builds the health of the server. */
export function createServerHealth(clock: Clock, log: Logger) {
  const health = createWriteHealth(
    {},
    'PostgreSQL takes no writes',
    'PostgreSQL takes writes again',
    clock,
    log,
  )

  function note(error: unknown): void {
    if (!(error instanceof pg.DatabaseError)) return
    const fault = FAULTS.find(([pattern]) => pattern.test(error.code ?? ''))?.[1]
    if (fault !== undefined) health.failed(fault, error.message)
  }

  return {
    isUp: health.isUp,
    /** Wraps a store, so that its errors name the server as their cause. Notes these errors. */
    watch: <S extends object>(store: S): S => mapConnectionErrors(store, note),
    /** Reports faults from now on. @param probe a write, as for WriteHealth */
    start: (probe: () => Promise<unknown>): void => health.start(() => probe().then(health.written, note)),
    close: health.close,
  }
}
