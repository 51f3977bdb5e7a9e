import { createBenchStore } from './bench-store.js'
import { createBondStore } from './bond-store.js'
import { createEventStore } from './event-store.js'
import { createOnlyReplica } from './only-replica.js'
import { openQuoteRecordFile } from './quote-record-file.js'
import { readRecordKey } from './record-key.js'
import { createSolverStore } from './solver-store.js'
import { openSqlite } from './sqlite.js'
import type { Stores } from './stores.js'

/**
 * Opens the stores of one process in files.
 * @throws as `openSqlite` does
 */
export async function openSqliteStores(options: {
  /** A file, or `:memory:`. */
  readonly dbPath: string
  /** 0 keeps no records of quotes. */
  readonly quoteRecordHours: number
  /** Bounds their size. */
  readonly quoteRecordMaxBytes: number
  /** The clock: Unix time in milliseconds. */
  readonly now: () => number
}): Promise<Stores> {
  const { dbPath, quoteRecordHours, quoteRecordMaxBytes, now } = options
  const database = await openSqlite(dbPath)
  const quoteRecords =
    quoteRecordHours === 0 ? undefined : await openQuoteRecordFile(dbPath, quoteRecordMaxBytes)
  return {
    solvers: createSolverStore(database),
    bonds: createBondStore(database),
    events: createEventStore(database, now),
    benches: createBenchStore(database),
    quoteRecords,
    recordKey: await readRecordKey(database),
    limiterOf: undefined,
    replicas: createOnlyReplica(),
    async close() {
      await quoteRecords?.close()
      await database.destroy()
    },
  }
}
