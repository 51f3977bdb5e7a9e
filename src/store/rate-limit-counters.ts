import { type Migration, sql } from 'kysely'
import type pg from 'pg'
import { type RateLimiterAbstract, RateLimiterMemory, RateLimiterPostgres } from 'rate-limiter-flexible'
import { createPipelinedConnection } from './postgres-pipeline.js'

/** Counts in one table, shared by all replicas. */
export interface RateLimitCounters {
  /**
   * A limit of so many points for each key, in windows that begin with a key's first point. A limiter of the same name
   * in another replica counts the same; it should have the same points and window.
   */
  limiterOf(name: string, points: number, windowMs: number): Pick<RateLimiterAbstract, 'consume' | 'get'>
  /** Ends what is under way, within the time-out; from then on counts are kept in memory. */
  close(): Promise<void>
}

interface RateLimitCountersOptions {
  /** Of a PostgreSQL where `rateLimitMigrations` have been run. */
  readonly databaseUrl: string
  /** Whether the database is known to be there. */
  isUp(): boolean
  /** How long a question to the database may take, the wait for a connection included. */
  readonly timeoutMs?: number
  /** Told of each question that was not answered though the database was known to be there. */
  onFailure?(error: Error): void
}

const TABLE = 'rate_limits'
const TIMEOUT_MS = 500
const CLEAN_INTERVAL_MS = 60_000
/** Rows removed by one statement, so that it ends well within the time-out. */
const CLEANED_ROWS = 5000

/** Seen by nobody: whoever gets it counts in memory. */
const AWAY = new Error('the database is away')

/** The table's migrations. It is unlogged: a commit waits for no disk, and counts end with a crash of the database. */
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
 * Opens the counters; their connection is made when it is needed.
 *
 * While the database is not up, or does not answer a question in time, counts are kept in memory, from zero and for this
 * replica alone. A key that is known to be over its limit is refused without a question until its window ends. Windows
 * are told by the clocks of the replicas: where these differ, a window ends by that much earlier or later.
 */
export function openRateLimitCounters(options: RateLimitCountersOptions): RateLimitCounters {
  const { databaseUrl, isUp, timeoutMs = TIMEOUT_MS, onFailure = () => {} } = options
  const pipe = createPipelinedConnection(databaseUrl, timeoutMs)

  async function query(statement: pg.QueryConfig): Promise<pg.QueryResult> {
    if (!isUp()) throw AWAY
    try {
      return await withinTime(pipe.query(statement), timeoutMs)
    } catch (error) {
      onFailure(error as Error)
      throw error
    }
  }

  const cleaning = setInterval(() => {
    // What is left is removed the next time.
    removeExpired(query).catch(() => {})
  }, CLEAN_INTERVAL_MS)

  return {
    limiterOf(name, points, windowMs) {
      const limit = { keyPrefix: name, points, duration: windowMs / 1000 }
      return new RateLimiterPostgres({
        ...limit,
        storeClient: { query },
        storeType: 'pool',
        tableName: TABLE,
        tableCreated: true,
        // It would remove any number of rows at once, an hour later.
        clearExpiredByTimeout: false,
        // Without a duration of its own: until the window ends.
        inMemoryBlockOnConsumed: points,
        insuranceLimiter: new RateLimiterMemory(limit),
      })
    },
    async close() {
      clearInterval(cleaning)
      await pipe.close()
    },
  }
}

/** @throws Error when it takes longer */
function withinTime<T>(promise: Promise<T>, timeoutMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs)
    promise.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

/** Removes windows that ended long enough ago for every replica's clock. */
async function removeExpired(query: (statement: pg.QueryConfig) => Promise<pg.QueryResult>): Promise<void> {
  // Rows that another replica is removing are left to it.
  const text = `delete from ${TABLE} where key in
    (select key from ${TABLE} where expire < $1 limit ${CLEANED_ROWS} for update skip locked)`
  const statement = { text, values: [Date.now() - CLEAN_INTERVAL_MS] }
  while ((await query(statement)).rowCount === CLEANED_ROWS);
}
