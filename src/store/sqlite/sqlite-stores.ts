import type { Logger } from '../../telemetry/log.js'
import { type Database, NO_COORDINATION } from '../database.js'
import { probeWrites } from '../events/event-statements.js'
import { createEventStore } from '../events/event-store.js'
import { createApiKeyStore } from '../operator/api-key-store.js'
import { createOrderStore } from '../orders/order-store.js'
import { createSolverOrderStore } from '../orders/solver-order-store.js'
import { ONLY_REPLICA } from '../postgres/replica-lease.js'
import { openQuoteRecordFile } from '../records/quote-record-file.js'
import { createBondStore } from '../solvers/bond-store.js'
import { createOfferNonceStore } from '../solvers/offer-nonce-store.js'
import { createSolverHourStore } from '../solvers/solver-hour-store.js'
import { createSolverStore } from '../solvers/solver-store.js'
import { readRecordKey, type Stores } from '../stores.js'
import { nameUnavailable } from '../write-health.js'
import { createFileHealth, type FileHealth, faultErrorOf } from './file-health.js'
import { takeFileLock } from './file-lock.js'
import { openSqlite, toConfigError } from './sqlite.js'

interface SqliteStoresOptions {
  /** A file, or `:memory:`. */
  readonly dbPath: string
  /** Time for which records of quotes are kept; 0 keeps none. */
  readonly quoteRecordHours: number
  /** Most bytes of all records. */
  readonly quoteRecordMaxBytes: number
  /** Only addresses on the operator's list of allowed ones may register. */
  readonly solverAllowlist: boolean
  /** The clock: Unix time in milliseconds. */
  readonly now: () => number
  readonly log: Logger
}

/**
 * Opens the stores of one process in files. Other processes cannot open them until they are closed.
 * @throws ConfigError when another service uses the file, when it cannot be used, or when another version wrote it
 */
export async function openSqliteStores(options: SqliteStoresOptions): Promise<Stores> {
  const { dbPath, now, log } = options
  const lock = takeFileLock(dbPath, now)
  const health = createFileHealth(dbPath, log)
  let database: Database | undefined
  const close = async () => {
    health.close()
    await database?.destroy()
    lock.release()
  }
  try {
    database = await openSqlite(dbPath, health)
    return await openAll(database, health, close, options)
  } catch (error) {
    await close()
    throw toConfigError(dbPath, error)
  }
}

async function openAll(
  database: Database,
  health: FileHealth,
  close: () => Promise<void>,
  { dbPath, quoteRecordHours, quoteRecordMaxBytes, solverAllowlist, now, log }: SqliteStoresOptions,
): Promise<Stores> {
  const guard = <S extends object>(store: S) => nameUnavailable(store, faultErrorOf)
  health.start(() => probeWrites(database))
  const solvers = createSolverStore(database, NO_COORDINATION, ONLY_REPLICA, solverAllowlist)
  // Sessions end with their process, and no other process has any of this file's.
  await solvers.endAllSessions(now())
  const recordKey = await readRecordKey(database)
  const quoteRecords =
    quoteRecordHours === 0 ? undefined : await openQuoteRecordFile(dbPath, quoteRecordMaxBytes, log)
  return {
    solvers: guard(solvers),
    bonds: guard(createBondStore(database)),
    events: guard(createEventStore(database, now)),
    orders: guard(createOrderStore(database)),
    solverOrders: guard(createSolverOrderStore(database)),
    solverHours: guard(createSolverHourStore(database)),
    offerNonces: guard(createOfferNonceStore(database)),
    apiKeys: guard(createApiKeyStore(database)),
    quoteRecords,
    recordKey,
    limiterOf: undefined,
    rateLimitBytes: undefined,
    isUp: health.isUp,
    async close() {
      await quoteRecords?.close()
      await close()
    },
  }
}
