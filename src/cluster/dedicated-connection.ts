import pg from 'pg'
import type { Clock } from '../../packages/protocol/src/clock.js'
import { createSerialQueue } from '../concurrency/one-at-a-time.js'
import { createRetry } from '../concurrency/retry.js'
import { destroyConnection } from '../internals/pg.js'
import { CHANNELS, connectionOptions } from '../store/postgres/postgres.js'
import type { Logger } from '../telemetry/log.js'

/** A connection to PostgreSQL for what belongs to a connection: session locks and notifications. */
export type DedicatedConnection = ReturnType<typeof createDedicatedConnection>

/** Receives what happens to a dedicated connection. */
interface ConnectionListener {
  /** The topics of the notifications to listen to. */
  readonly topics: readonly string[]
  /** Another connection has sent a notification. */
  onNotification(topic: string, payload: string): void
  /** The server has refused a statement, which may be a notification, for lack of a resource. */
  onRefused(error: Error): void
  /** The connection is lost. The server may have released its locks, and notifications may be lost. */
  onLost(): void
  /** The connection is up again. */
  onReconnected(): void
}

/** A connection without an answer for this time is lost. */
const SILENCE_MS = 2500
/** The server ends a connection that sends nothing for this time. */
const IDLE_MS = 3000
const RECONNECT_MS = 250
/**
 * Makes the server end the connection of a replica that is frozen or unreachable, and with it the session locks. The
 * server also ends a statement when the replica no longer waits for its answer.
 */
const LIMITS = `set idle_session_timeout = ${IDLE_MS}; set statement_timeout = ${SILENCE_MS}`

/** Classes of SQLSTATE: the server lacks a resource, or has reached a limit, such as that of its queue of notifications. */
const REFUSALS = /^5[34]/

function isRefusal(error: unknown): error is Error {
  return error instanceof pg.DatabaseError && REFUSALS.test(error.code ?? '')
}

/** Builds the connection. Send a statement at least every second, because a silent connection counts as lost. */
export function createDedicatedConnection(databaseUrl: string, clock: Clock, log: Logger) {
  const statements = createSerialQueue()
  let listener: ConnectionListener = {
    topics: [],
    onNotification() {},
    onRefused() {},
    onLost() {},
    onReconnected() {},
  }
  let client: pg.Client | undefined
  let lastFailure = ''
  let isClosed = false

  async function connect(): Promise<void> {
    const next = new pg.Client({ ...connectionOptions(databaseUrl), query_timeout: SILENCE_MS })
    next.on('error', (error) => lose(next, error)).on('end', () => lose(next))
    try {
      await next.connect()
      const { rows } = await next.query('select pg_catalog.pg_backend_pid() as pid')
      const channels = (await next.query(CHANNELS, [listener.topics])).rows
      const topics = new Map<string, string>(channels.map(({ topic, channel }) => [channel, topic]))
      next.on('notification', ({ processId, channel, payload = '' }) => {
        const topic = topics.get(channel)
        if (topic !== undefined && processId !== rows[0].pid) listener.onNotification(topic, payload)
      })
      await next.query([LIMITS, ...[...topics.keys()].map((channel) => `listen ${channel}`)].join(';'))
      client = next
    } catch (error) {
      // Otherwise it could still receive notifications, in addition to the next connection.
      destroyConnection(next)
      throw error
    }
  }

  function lose(which: pg.Client, error?: Error): void {
    if (which !== client) return
    client = undefined
    // Its answer may never come.
    destroyConnection(which)
    listener.onLost()
    if (isClosed) return
    log.error({ reason: error?.message ?? 'it has ended' }, 'the connection to the database is lost')
    lastFailure = ''
    reconnection.run()
  }

  const reconnection = createRetry({ work: reconnect, delayMs: RECONNECT_MS, clock })

  async function reconnect(): Promise<void> {
    try {
      await connect()
    } catch (error) {
      const { message } = error as Error
      if (message !== lastFailure) log.warn({ reason: message }, 'the database does not answer')
      lastFailure = message
      throw error
    }
    if (isClosed) return disconnect()
    log.info('the database answers again')
    listener.onReconnected()
  }

  async function disconnect(): Promise<void> {
    const last = client
    client = undefined
    if (last === undefined) return
    // The server may not answer any more.
    const timer = clock.setTimeout(() => destroyConnection(last), SILENCE_MS)
    await last.end()
    timer.stop()
  }

  return {
    /** Connects. After each loss, it connects again until `close`. @throws pg's error when this first attempt fails */
    open(opened: ConnectionListener): Promise<void> {
      listener = opened
      return connect()
    },
    isUp: (): boolean => client !== undefined,
    /**
     * Runs a statement after all earlier ones. When it fails or gets no answer, the connection is lost, unless the server
     * lacks a resource for it.
     * @returns its rows; none when it has failed
     */
    query: (text: string, values: unknown[]): Promise<pg.QueryResult['rows']> =>
      statements.run(async () => {
        const used = client
        try {
          const result = await used?.query(text, values)
          return used === client ? (result?.rows ?? []) : []
        } catch (error) {
          if (isRefusal(error)) listener.onRefused(error)
          else if (used !== undefined) lose(used, error as Error)
          return []
        }
      }),
    /** Closes the connection after the statements under way. */
    async close(): Promise<void> {
      isClosed = true
      // It does not wait for an attempt to connect, which may take seconds. `reconnect` closes what is opened then.
      void reconnection.close()
      await statements.idle()
      await disconnect()
    },
  }
}
