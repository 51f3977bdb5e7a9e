import { PostgresDialect, type PostgresPoolClient, sql } from 'kysely'
import pg from 'pg'
import type { Topic } from '../domain/cluster.js'
import type { Coordination } from './database.js'
import { nameUnavailable } from './database-unavailable.js'

/** Statements under way at once; each is one connection of the database. */
const MAX_CONNECTIONS = 10
const CONNECT_TIMEOUT_MS = 2000
/** An answer that takes longer is given up: nothing that is asked here takes a tenth of that. */
const QUERY_TIMEOUT_MS = 5000
const APPLICATION = 'quote-aggregator'
/**
 * Limits on the server's side. It undoes the transaction of a replica that is frozen, or cannot be reached: others wait
 * for what that one locked. It gives up a statement when the client does, else its processes would pile up behind a lock.
 * As statements, since a pooler in between may refuse them as parameters of the connection.
 */
export const SERVER_LIMITS = `set idle_in_transaction_session_timeout = 3000; set statement_timeout = ${QUERY_TIMEOUT_MS}`

/** Connections for one statement or transaction each. */
export interface ConnectionPool {
  /** A dialect for one Kysely; what that one does at its end leaves the pool as it is. */
  dialect(): PostgresDialect
  /** Gives up the connections that there are, on which an answer may never come, for new ones. */
  renew(): void
  close(): Promise<void>
}

/** How any connection is made; 64-bit integers, which are all below 2^53 here, come as numbers. */
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

const INT8: number = pg.types.builtins.INT8

/** Builds the pool; it connects when it is asked for something. */
export function createConnectionPool(databaseUrl: string): ConnectionPool {
  let current = open()

  function open(): pg.Pool {
    const options = {
      max: MAX_CONNECTIONS,
      onConnect: (client: pg.ClientBase) => client.query(SERVER_LIMITS),
    }
    const pool = new pg.Pool({ ...connectionOptions(databaseUrl), ...options })
    // Of a connection that nobody uses at the moment: whoever needs one gets another. Of others their users hear.
    return pool.on('error', () => {}).on('connect', (client) => client.on('error', () => {}))
  }

  return {
    dialect: () => new PostgresDialect({ pool: { connect: () => borrow(current), end: async () => {} } }),
    renew() {
      void current.end()
      current = open()
    },
    close: () => current.end(),
  }
}

/**
 * A connection for one transaction. With the first answer that does not come it is given up: else what follows would
 * wait behind that statement, and whoever gets the connection next would find the transaction still open.
 */
async function borrow(pool: pg.Pool): Promise<PostgresPoolClient> {
  const client = await pool.connect()
  let failure: Error | undefined
  async function query(text: string, values: unknown[]): Promise<unknown> {
    // Of a rollback, so that the error that led to it is the one that its user gets.
    if (failure !== undefined) throw failure
    try {
      return await client.query(text, values)
    } catch (error) {
      if (!(error instanceof pg.DatabaseError) || SERVERS_OWN.test(error.code ?? '')) {
        failure = error as Error
        client.connection.stream.destroy()
      }
      throw error
    }
  }
  return { query: query as PostgresPoolClient['query'], release: () => client.release(failure) }
}

/** The channel on which a topic's texts are told. */
export function channelOf(topic: Topic): string {
  return `quote_aggregator_${topic}`
}

/** The key that a name is locked by; names of other programs in the same database are others. */
function lockKey(name: string) {
  return sql`hashtextextended(${`quote-aggregator ${name}`}, 0)`
}

/** What PostgreSQL has for transactions of several processes: both end with the transaction. */
export const POSTGRES_COORDINATION: Coordination = {
  async serialize(transaction, name) {
    await sql`select pg_advisory_xact_lock(${lockKey(name)})`.execute(transaction)
  },
  async notify(transaction, topic, text) {
    await sql`select pg_notify(${channelOf(topic)}, ${text})`.execute(transaction)
  },
}

/**
 * Makes a store's failures say when PostgreSQL cannot be reached, as `nameUnavailable` does.
 * @param note takes each failure
 */
export function mapConnectionErrors<S extends object>(
  store: S,
  note: (error: unknown) => void = () => {},
): S {
  return nameUnavailable(store, (error) => {
    note(error)
    return isConnectionError(error) ? error : undefined
  })
}

/** Classes of SQLSTATE that tell of the server and not of the statement: its connection, room, operator; read-only. */
const SERVERS_OWN = /^(08|53|57|25006)/

/** What is no answer of the server is a connection that failed, or could not be made. */
function isConnectionError(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return SERVERS_OWN.test(error.code ?? '')
  if (!(error instanceof Error)) return false
  return (
    'syscall' in error ||
    // Of a name with several addresses, each of which has failed.
    error instanceof AggregateError ||
    /^(Connection terminated|Client has encountered|Query read timeout|timeout exceeded)/.test(error.message)
  )
}
