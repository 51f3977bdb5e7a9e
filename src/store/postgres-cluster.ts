import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { type Cluster, type LeadershipListener, TOPICS, type TopicListener } from '../domain/cluster.js'
import type { Logger } from '../telemetry/log.js'
import { channelOf, connectionOptions } from './postgres.js'

interface PostgresClusterOptions {
  readonly databaseUrl: string
  /** Called when the connection is lost. */
  readonly onLost: () => void
  readonly log: Logger
}

/** Interval of the checks of the connection and of the attempts to become leader. */
const HEARTBEAT_MS = 1000
/** A connection without an answer for this time is lost. */
const SILENCE_MS = 2500
/** A leader that is silent for this time loses its connection, and with it the leadership. */
const LEADER_SILENCE_MS = 3000
const RECONNECT_MS = 250
/**
 * Makes the server end the connection of a replica that is frozen or unreachable. Only then can another replica become
 * leader. The server also ends a statement when the replica no longer waits for its answer.
 */
const LIMITS = `set idle_session_timeout = ${LEADER_SILENCE_MS}; set statement_timeout = ${SILENCE_MS}`
const LISTEN = TOPICS.map((topic) => `listen ${channelOf(topic)}`).join(';')
/** Tries to lock each leadership. A lock is held until the end of the connection. */
const TRY_LOCKS = `select name, pg_try_advisory_lock(hashtextextended('quote-aggregator ' || name, 0)) as is_won
  from unnest($1::text[]) as name`

/** The election of one leadership on this replica. */
interface Election {
  readonly listener: LeadershipListener
  isLeader: boolean
}

/**
 * Connects this replica to the others on a database. Its one connection receives their messages and holds the locks of
 * its leaderships. When the connection is lost, this replica is no leader any more and connects again.
 * @throws pg's error when the first connection fails
 */
export async function connectCluster(options: PostgresClusterOptions): Promise<Cluster> {
  const { databaseUrl, onLost, log } = options
  const listeners = new Map<string, TopicListener[]>()
  const elections = new Map<string, Election>()
  let client: pg.Client | undefined
  let isClosed = false
  /** The statements on the connection run one after the other. */
  let queue: Promise<unknown> = Promise.resolve()

  async function connect(): Promise<void> {
    const next = new pg.Client({ ...connectionOptions(databaseUrl), query_timeout: SILENCE_MS })
    const lose = (error?: Error) => lost(next, error)
    next.on('error', lose).on('end', () => lose())
    try {
      await next.connect()
      const { rows } = await next.query('select pg_backend_pid() as pid')
      next.on('notification', (notification) => {
        if (notification.processId !== rows[0].pid) onNotification(notification)
      })
      await next.query(`${LIMITS};${LISTEN}`)
      client = next
    } catch (error) {
      // Otherwise it could still receive messages, in addition to the next connection.
      next.connection.stream.destroy()
      throw error
    }
  }

  async function leave(): Promise<void> {
    const last = client
    client = undefined
    // The server may not answer any more.
    const timer = setTimeout(() => last?.connection.stream.destroy(), SILENCE_MS)
    await last?.end()
    clearTimeout(timer)
  }

  function onNotification({ channel, payload = '' }: pg.Notification): void {
    try {
      for (const listener of listeners.get(channel) ?? []) listener.onMessage(payload)
    } catch (error) {
      log.error({ err: error, channel }, 'a message of another replica could not be processed')
    }
  }

  function lost(which: pg.Client, error: Error | undefined): void {
    if (which !== client) return
    client = undefined
    // Its answer may never come.
    which.connection.stream.destroy()
    for (const election of elections.values()) stepDown(election)
    if (isClosed) return
    log.error({ reason: error?.message ?? 'it has ended' }, 'the connection to the database is lost')
    onLost()
    void reconnect()
  }

  function stepDown(election: Election): void {
    if (!election.isLeader) return
    election.isLeader = false
    election.listener.onLost()
  }

  async function reconnect(): Promise<void> {
    let logged = ''
    while (client === undefined && !isClosed) {
      await connect().catch(({ message }: Error) => {
        if (message !== logged) log.warn({ reason: message }, 'the database does not answer')
        logged = message
      })
      if (client === undefined) await wait(RECONNECT_MS)
    }
    if (isClosed) return leave()
    log.info('the database answers again')
    for (const listener of [...listeners.values()].flat()) listener.onMissed()
    await heartbeat()
  }

  /**
   * Runs a statement on the connection. When the statement fails or gets no answer, the connection is lost.
   * @returns its rows; none when the connection is lost
   */
  function run(text: string, values: unknown[]): Promise<pg.QueryResult['rows']> {
    const answer = queue.then(async () => {
      const used = client
      try {
        const result = await used?.query(text, values)
        return used === client ? (result?.rows ?? []) : []
      } catch (error) {
        if (used !== undefined) lost(used, error as Error)
        return []
      }
    })
    queue = answer
    return answer
  }

  async function heartbeat(): Promise<void> {
    const wanted = [...elections].filter(([, { isLeader }]) => !isLeader).map(([name]) => name)
    for (const { name, is_won } of await run(TRY_LOCKS, [wanted])) {
      const election = elections.get(name)
      if (!is_won || election === undefined || election.isLeader) continue
      election.isLeader = true
      election.listener.onAcquired()
    }
  }

  await connect()
  const timer = setInterval(() => void heartbeat(), HEARTBEAT_MS)

  return {
    isDatabaseUp: () => client !== undefined,
    listen(topic, listener) {
      const channel = channelOf(topic)
      listeners.set(channel, [...(listeners.get(channel) ?? []), listener])
    },
    publish(topic, text) {
      void run('select pg_notify($1, $2)', [channelOf(topic), text])
    },
    async acquire(name, listener) {
      elections.set(name, { listener, isLeader: false })
      await heartbeat()
    },
    async close() {
      isClosed = true
      clearInterval(timer)
      await queue
      await leave()
    },
  }
}
