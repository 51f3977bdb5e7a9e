import type pg from 'pg'
import {
  type IRateLimiterPostgresOptions,
  type RateLimiterAbstract,
  RateLimiterPostgres,
} from 'rate-limiter-flexible'

/**
 * Closes a connection at once, without waiting for answers that may never come. Statements under way fail. The public `end`
 * waits for the server. The socket below a client of pg is not documented. Checked with pg 8.23.1.
 */
export function destroyConnection(client: pg.Client): void {
  client.connection.stream.destroy()
}

/**
 * Builds a limiter that counts in PostgreSQL by a function that runs one statement. The library documents pools of pg as its
 * client. It uses only their `query`, with a named statement. The table exists already. Checked with rate-limiter-flexible
 * 11.4.0.
 */
export function createQueryRateLimiter(
  query: (statement: pg.QueryConfig) => Promise<pg.QueryResult>,
  options: Omit<IRateLimiterPostgresOptions, 'storeClient'>,
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
