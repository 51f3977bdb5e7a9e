import { type Database, NO_COORDINATION } from '../database.js'
import { probeWrites } from '../events/event-statements.js'
import { ONLY_REPLICA } from '../postgres/replica-lease.js'
import { openQuoteRecordFile } from '../records/quote-record-file.js'
import { createSolverStore } from '../solvers/solver-store.js'
import { createMainStores, readRecordKey, type Stores, type StoresOptions } from '../stores.js'
import { nameUnavailable } from '../write-health.js'
import { createFileHealth, type FileHealth, faultErrorOf } from './file-health.js'
import { takeFileLock } from './file-lock.js'
import { openSqlite, toConfigError } from './sqlite.js'

interface SqliteStoresOptions extends StoresOptions {
  /** A file, or `:memory:`. */
  readonly dbPath: string
}

/**
 * Opens the stores of one process in files. Other processes cannot open them until they are closed.
 * @throws ConfigError when another service uses the file, when it cannot be used, or when another version wrote it
 */
export async function openSqliteStores(options: SqliteStoresOptions): Promise<Stores> {
  const { dbPath, clock, log } = options
  const lock = takeFileLock(dbPath)
  const health = createFileHealth(dbPath, clock, log)
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
  options: SqliteStoresOptions,
): Promise<Stores> {
  const { dbPath, quoteRecordHours, quoteRecordMaxBytes, clock, log } = options
  const guard = <S extends object>(store: S) => nameUnavailable(store, faultErrorOf)
  health.start(() => probeWrites(database))
  // Sessions end with their process, and no other process has any of this file's.
  await createSolverStore(database).endAllSessions(clock.now())
  const recordKey = await readRecordKey(database)
  const quoteRecords =
    quoteRecordHours === 0 ? undefined : await openQuoteRecordFile(dbPath, quoteRecordMaxBytes, clock, log)
  return {
    ...createMainStores(database, NO_COORDINATION, ONLY_REPLICA, options, guard),
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
