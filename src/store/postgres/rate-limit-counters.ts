import { type Migration, sql } from 'kysely'
import pg from 'pg'
import { type RateLimiterAbstract, RateLimiterMemory } from 'rate-limiter-flexible'
import type { Clock } from '../../../packages/protocol/src/clock.js'
import { withTimeout } from '../../concurrency/time-limits.js'
import { createQueryRateLimiter } from '../../internals/pg.js'

/** Request counts in one table that all replicas share. */
export type RateLimitCounters = ReturnType<typeof openRateLimitCounters>

interface RateLimitCountersOptions {
  /** URL of a PostgreSQL with the tables of `rateLimitMigrations`. */
  readonly databaseUrl: string
  /** Whether the database is reachable, as far as is known. */
  isUp(): boolean
  readonly clock: Clock
  /** Longest time for a statement, including the wait for a connection. */
  readonly timeoutMs?: number
  /** Called with each statement that fails although the database was reachable. */
  onFailure?(error: Error): void
}

const TABLE = 'rate_limits'
const TIMEOUT_MS = 500
const CLEAN_INTERVAL_MS = 60_000
/** Rows removed by one statement, so that it ends well within the timeout. */
const CLEANED_ROWS = 5000

/** Not reported. The limiter counts in memory after it. */
const DATABASE_DOWN = new Error('the database is down')

/** The migrations of the table. It is unlogged: a commit waits for no disk, and a crash of the database empties it. */
export const rateLimitMigrations: Record<string, Migration> = {
  '001-rate-limits': {
    async up(db) {
      await db.schema
        .createTable(TABLE)
        .modifyFront(sql`unlogged`)
        .addColumn('key', 'varchar(255)', (column) => column.primaryKey())
        .addColumn('points', 'integer', (column) => column.notNull().defaultTo(0))
        .addColumn('expire', 'bigint')
        .execute()
    },
  },
}

/**
 * Opens the counters. They connect on the first use.
 *
 * While the database is down, or does not answer in time, counts are kept in memory, from zero and for this replica only. A
 * key that is over its limit is rejected without a query until its window ends. Windows use the clocks of the replicas. When
 * these differ, a window ends earlier or later by the difference.
 */
export function openRateLimitCounters(options: RateLimitCountersOptions) {
  const { databaseUrl, isUp, clock, timeoutMs = TIMEOUT_MS, onFailure = () => {} } = options
  const connection = createPipelinedConnection(databaseUrl, timeoutMs)

  async function query(statement: pg.QueryConfig): Promise<pg.QueryResult> {
    if (!isUp()) throw DATABASE_DOWN
    try {
      return await withTimeout(connection.query(statement), timeoutMs, clock)
    } catch (error) {
      onFailure(error as Error)
      throw error
    }
  }

  const cleaning = clock.setInterval(() => {
    // The remaining rows are removed the next time.
    removeExpired(query, clock.now() - CLEAN_INTERVAL_MS).catch(() => {})
  }, CLEAN_INTERVAL_MS)

  return {
    /**
     * A limit of points for each key, in windows that begin with a key's first point. A limiter of the same name in another
     * replica uses the same counts. It should have the same points and window.
     */
    limiterOf(name: string, points: number, windowMs: number): Pick<RateLimiterAbstract, 'consume' | 'get'> {
      const limit = { keyPrefix: name, points, duration: windowMs / 1000 }
      return createQueryRateLimiter(query, {
        ...limit,
        tableName: TABLE,
        // Without a duration, the block lasts until the window ends.
        inMemoryBlockOnConsumed: points,
        insuranceLimiter: new RateLimiterMemory(limit),
      })
    },
    /** The size of the table with its index. */
    async usedBytes(): Promise<number> {
      const text = `select pg_total_relation_size('${TABLE}') as bytes`
      return Number((await query({ text })).rows[0]?.bytes)
    },
    /** Waits for statements under way, within the timeout. From then on, counts are kept in memory. */
    async close(): Promise<void> {
      cleaning.stop()
      await connection.close()
    },
  }
}

/** Removes windows that have ended, with a margin for differences between the replicas' clocks. */
async function removeExpired(
  query: (statement: pg.QueryConfig) => Promise<pg.QueryResult>,
  before: number,
): Promise<void> {
  // Rows that another replica is removing are skipped.
  const text = `delete from ${TABLE} where key in
    (select key from ${TABLE} where expire < $1 limit ${CLEANED_ROWS} for update skip locked)`
  const statement = { text, values: [before] }
  while ((await query(statement)).rowCount === CLEANED_ROWS);
}

/**
 * Builds a connection that sends statements without waiting for earlier answers, and opens again after its end. Many small
 * statements cost a third of what they cost on the connections of a pool. Each is a transaction of its own.
 * @param timeoutMs longest time for a statement, and for the connect before it; a statement without an answer ends the
 * connection
 */
function createPipelinedConnection(connectionString: string, timeoutMs: number) {
  let client: pg.Client | undefined
  let isClosed = false

  function open(): pg.Client {
    const opened = new pg.Client({
      connectionString,
      application_name: 'quote-aggregator limits',
      connectionTimeoutMillis: timeoutMs,
      query_timeout: timeoutMs,
      keepAlive: true,
      pipeline: true,
    })
    const forget = () => {
      if (client === opened) client = undefined
    }
    opened.on('error', forget).on('end', forget).connect().catch(forget)
    // The server stops the statement too. Otherwise its processes would accumulate while they wait for a lock. It is a
    // statement, because a pooler in between may reject it as a parameter of the connection.
    opened.query(`set statement_timeout = ${timeoutMs}`).catch(forget)
    return opened
  }

  return {
    async query(statement: pg.QueryConfig): Promise<pg.QueryResult> {
      if (isClosed) throw new Error('the connection is closed')
      client ??= open()
      return client.query(statement)
    },
    async close(): Promise<void> {
      isClosed = true
      await client?.end()
    },
  }
}
