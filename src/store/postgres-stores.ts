import type { Cluster } from '../domain/cluster.js'
import { ConfigError } from '../environment.js'
import type { Logger } from '../telemetry/log.js'
import { createBondStore } from './bond-store.js'
import { createCircuitBreakerStore } from './circuit-breaker-store.js'
import { NewerSchemaError, openTables } from './database.js'
import { probeWrites } from './event-statements.js'
import { createEventStore } from './event-store.js'
import { type ConnectionPool, createConnectionPool, POSTGRES_COORDINATION } from './postgres.js'
import { connectCluster } from './postgres-cluster.js'
import { createServerHealth } from './postgres-health.js'
import { POSTGRES_TABLES } from './postgres-tables.js'
import { bytesSinceOldest } from './quote-record-size.js'
import { createQuoteRecordTable, type QuoteRecordSchema } from './quote-record-table.js'
import { openRateLimitCounters } from './rate-limit-counters.js'
import { readRecordKey } from './record-key.js'
import type { Schema } from './schema.js'
import { createSolverStore } from './solver-store.js'
import type { Stores } from './stores.js'

/**
 * Opens the stores that replicas share in PostgreSQL.
 * @throws ConfigError when it cannot be reached, rejects the user, or has the tables of a newer version
 */
export async function openPostgresStores(options: {
  readonly databaseUrl: string
  readonly rateLimitStore: 'memory' | 'postgres'
  /** Time for which records of quotes are kept; 0 keeps none. */
  readonly quoteRecordHours: number
  /** Most bytes of all records. */
  readonly quoteRecordMaxBytes: number
  /** The clock: Unix time in milliseconds. */
  readonly now: () => number
  readonly log: Logger
}): Promise<Stores> {
  const { databaseUrl, rateLimitStore, quoteRecordHours, quoteRecordMaxBytes, now, log } = options
  const pool = createConnectionPool(databaseUrl)
  const cluster = await join(databaseUrl, pool, log)
  const counters = openRateLimitCounters({
    databaseUrl,
    isUp: cluster.isDatabaseUp,
    onFailure: createRateLimitedWarning(log),
  })
  const health = createServerHealth(log)
  const close = async () => {
    health.close()
    await counters.close()
    await cluster.close()
    await pool.close()
  }
  try {
    const database = await openTables<Schema>(pool.dialect(), POSTGRES_TABLES.main)
    const records = await openTables<QuoteRecordSchema>(pool.dialect(), POSTGRES_TABLES.quoteRecords)
    const recordTable = createQuoteRecordTable(records, {
      size: bytesSinceOldest(records),
      maxBytes: quoteRecordMaxBytes,
    })
    await openTables(pool.dialect(), POSTGRES_TABLES.rateLimits)
    health.start(() => probeWrites(database))
    return {
      solvers: health.watch(createSolverStore(database, POSTGRES_COORDINATION)),
      bonds: health.watch(createBondStore(database, POSTGRES_COORDINATION)),
      events: health.watch(createEventStore(database, now, POSTGRES_COORDINATION)),
      circuitBreakers: health.watch(createCircuitBreakerStore(database)),
      quoteRecords: quoteRecordHours === 0 ? undefined : health.watch(recordTable),
      recordKey: await readRecordKey(database),
      limiterOf: rateLimitStore === 'postgres' ? counters.limiterOf : undefined,
      cluster: { ...cluster, isDatabaseUp: () => cluster.isDatabaseUp() && health.isUp() },
      close,
    }
  } catch (error) {
    await close()
    throw toConfigError(error)
  }
}

const WARN_INTERVAL_MS = 10_000

async function join(databaseUrl: string, pool: ConnectionPool, log: Logger): Promise<Cluster> {
  try {
    return await connectCluster({ databaseUrl, onLost: pool.renew, log })
  } catch (error) {
    throw toConfigError(error)
  }
}

function toConfigError(error: unknown): ConfigError {
  const message =
    error instanceof NewerSchemaError
      ? `names a database that ${error.message}`
      : `cannot be used: ${reasonOf(error)}. It must name a PostgreSQL that answers and accepts its user`
  return new ConfigError([{ variable: 'DATABASE_URL', message }])
}

/** For a name with several addresses, the error of each address. */
function reasonOf(error: unknown): string {
  return error instanceof AggregateError ? error.errors.map(reasonOf).join(', ') : (error as Error).message
}

/** Logs the first of several errors. A database that fails at one request mostly fails at all of them. */
function createRateLimitedWarning(log: Logger): (error: Error) => void {
  let quietUntil = 0
  return ({ message }) => {
    if (performance.now() < quietUntil) return
    quietUntil = performance.now() + WARN_INTERVAL_MS
    log.warn({ reason: message }, 'requests are counted in memory')
  }
}
