import { randomUUID } from 'node:crypto'
import type { Logger } from '../../telemetry/log.js'
import { openTables, type TableSet } from '../database.js'
import { probeWrites } from '../events/event-statements.js'
import { migrations } from '../migrations.js'
import type { QuoteRecordSchema } from '../records/quote-record-store.js'
import { createQuoteRecordTable, quoteRecordMigrations } from '../records/quote-record-table.js'
import type { Schema } from '../schema.js'
import {
  createMainStores,
  readRecordKey,
  readReplicaKey,
  type Stores,
  type StoresOptions,
} from '../stores.js'
import { type ConnectionPool, createServerHealth, POSTGRES_COORDINATION } from './postgres.js'
import { openRateLimitCounters, rateLimitMigrations } from './rate-limit-counters.js'
import { createReplicaLease, type ReplicaLease } from './replica-lease.js'

/**
 * All tables of a PostgreSQL. Each set has a migration table of its own, because with SQLite the sets are in different
 * databases. The names are not Kysely's own, because another program may use those.
 */
export const POSTGRES_TABLES = {
  main: { migrations, migrationTable: 'quote_aggregator_migration' },
  quoteRecords: { migrations: quoteRecordMigrations, migrationTable: 'quote_aggregator_record_migration' },
  rateLimits: { migrations: rateLimitMigrations, migrationTable: 'quote_aggregator_limit_migration' },
} as const satisfies Record<string, TableSet>

export interface PostgresStoresOptions extends StoresOptions {
  readonly databaseUrl: string
  readonly pool: ConnectionPool
  /** Whether PostgreSQL is reachable, as far as is known. */
  readonly isReachable: () => boolean
  /** Time for which a replica without a sign of life keeps its solver sessions. */
  readonly leaseMs: number
  readonly rateLimitStore: 'memory' | 'postgres'
}

/** The stores of a replica, which holds its solver sessions by a lease. */
interface PostgresStores extends Stores {
  /** It is not taken yet. */
  readonly lease: ReplicaLease
  /** The UUID of this replica. */
  readonly replicaId: string
  /** The key that signs requests between replicas: 32 bytes. */
  readonly replicaKey: Uint8Array
}

/**
 * Opens the stores that replicas share in PostgreSQL. Their end does not close the pool.
 * @throws UnusableTablesError when another version wrote the tables, or a key in them is none; otherwise pg's error
 */
export async function openPostgresStores(options: PostgresStoresOptions): Promise<PostgresStores> {
  const { databaseUrl, pool, isReachable, leaseMs, rateLimitStore, clock, log } = options
  const counters = openRateLimitCounters({
    databaseUrl,
    isUp: isReachable,
    onFailure: createRateLimitedWarning(clock.monotonic, log),
    clock,
  })
  const health = createServerHealth(clock, log)
  const close = async () => {
    health.close()
    await counters.close()
  }
  try {
    const database = await openTables<Schema>(pool.dialect(), POSTGRES_TABLES.main)
    const records = await openTables<QuoteRecordSchema>(pool.dialect(), POSTGRES_TABLES.quoteRecords)
    const recordTable = createQuoteRecordTable(records, options.quoteRecordMaxBytes)
    await openTables(pool.dialect(), POSTGRES_TABLES.rateLimits)
    health.start(() => probeWrites(database))
    const replicaId = randomUUID()
    const lease = createReplicaLease(database, POSTGRES_COORDINATION, { replicaId, leaseMs })
    const holder = { replicaId, assertHeld: lease.assertHeld }
    return {
      lease: health.watch(lease),
      replicaId,
      replicaKey: await readReplicaKey(database),
      ...createMainStores(database, POSTGRES_COORDINATION, holder, options, health.watch),
      quoteRecords: options.quoteRecordHours === 0 ? undefined : health.watch(recordTable),
      recordKey: await readRecordKey(database),
      limiterOf: rateLimitStore === 'postgres' ? counters.limiterOf : undefined,
      rateLimitBytes: rateLimitStore === 'postgres' ? counters.usedBytes : undefined,
      isUp: health.isUp,
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** The shortest time between two warnings. */
const WARN_INTERVAL_MS = 10_000

/** Logs the first of several errors. A database that fails at one request mostly fails at all of them. */
function createRateLimitedWarning(clock: () => number, log: Logger): (error: Error) => void {
  let quietUntil = Number.NEGATIVE_INFINITY
  return ({ message }) => {
    if (clock() < quietUntil) return
    quietUntil = clock() + WARN_INTERVAL_MS
    log.warn({ reason: message }, 'requests are counted in memory')
  }
}
