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
 * @param now the clock, Unix time in milliseconds
 * @throws as `openSqlite` does
 */
export async function openSqliteStores(dbPath: string, now: () => number): Promise<Stores> {
  const database = await openSqlite(dbPath)
  const quoteRecords = openQuoteRecordFile(dbPath)
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
      await quoteRecords.close()
      await database.destroy()
    },
  }
}
