import type pg from 'pg'
import { type RateLimiterAbstract, RateLimiterPostgres } from 'rate-limiter-flexible'

interface QueryRateLimiterOptions {
  readonly keyPrefix: string
  readonly points: number
  /** Length of a window in seconds. */
  readonly duration: number
  /** A table with the columns of the library, which exists already. */
  readonly tableName: string
  /** A key with this number of points is rejected without a statement until its window ends. */
  readonly inMemoryBlockOnConsumed?: number
  /** Counts instead after a statement that fails. */
  readonly insuranceLimiter: RateLimiterAbstract
}

/**
 * Builds a limiter that counts in PostgreSQL by a function that runs one statement. The library documents pools of pg as
 * its client. It uses only their `query`, with a named statement. Checked with rate-limiter-flexible 11.4.0.
 */
export function createQueryRateLimiter(
  query: (statement: pg.QueryConfig) => Promise<pg.QueryResult>,
  options: QueryRateLimiterOptions,
): RateLimiterAbstract {
  return new RateLimiterPostgres({
    ...options,
    storeClient: { query },
    storeType: 'pool',
    tableCreated: true,
    // The library would remove any number of rows at once, an hour later.
    clearExpiredByTimeout: false,
  })
}
