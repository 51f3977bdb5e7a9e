import { ConfigError } from '../../config/environment.js'
import { type Database, type DatabaseTransaction, forEachBatch, openTables } from '../database.js'
import { createConnectionPool, mapConnectionErrors } from '../postgres/postgres.js'
import { POSTGRES_TABLES } from '../postgres/postgres-stores.js'
import type { Schema } from '../schema.js'
import { takeFileLock } from '../sqlite/file-lock.js'
import { openExisting } from './operator-file.js'

/** What operator and solvers have entered. All else comes from the chains again, or is left. */
const MOVED = ['api_keys', 'listed_solvers', 'solvers', 'solver_timestamps'] as const
/** A database with rows in one of these is in use already. */
const MUST_BE_EMPTY = [...MOVED, 'events', 'chain_positions', 'replicas'] as const

/** How many rows of each table were copied. */
type MovedRows = Readonly<Record<(typeof MOVED)[number], number>>

/**
 * Copies what operator and solvers have entered from a file, whose service does not run, to an empty PostgreSQL, in one
 * transaction.
 * @param now Unix time in milliseconds, at which the sessions of the file have ended
 * @throws ConfigError when the file is in use or of another version, or the PostgreSQL holds other data; ServiceError
 *   DATABASE_UNAVAILABLE
 */
export async function moveFile(path: string, databaseUrl: string, now: number): Promise<MovedRows> {
  const file = openExisting<Schema>(path, '--from')
  const pool = createConnectionPool(databaseUrl)
  let lock: ReturnType<typeof takeFileLock> | undefined
  try {
    lock = takeFileLock(path)
    return await mapConnectionErrors({
      async move() {
        const target = await openTables<Schema>(pool.dialect(), POSTGRES_TABLES.main)
        return target.transaction().execute((transaction) => moveRows(file, transaction, now))
      },
    }).move()
  } finally {
    lock?.release()
    await Promise.all([file.destroy(), pool.close()])
  }
}

async function moveRows(file: Database, target: DatabaseTransaction, now: number): Promise<MovedRows> {
  for (const table of MUST_BE_EMPTY) {
    const row = await target
      .selectFrom(table)
      .select(({ lit }) => lit(1).as('one'))
      .limit(1)
      .executeTakeFirst()
    const message = `names a database that is in use, with rows in ${table}: name an empty one`
    if (row !== undefined) throw new ConfigError([{ variable: 'DATABASE_URL', message }])
  }
  const counts: Record<string, number> = {}
  for (const table of MOVED) {
    const rows = await file.selectFrom(table).selectAll().execute()
    await forEachBatch(rows, (part) =>
      target
        .insertInto(table)
        .values(part as never)
        .execute(),
    )
    counts[table] = rows.length
  }
  await target
    .updateTable('solvers')
    .set({ session_ended_at_ms: now })
    .where('session_id', 'is not', null)
    .where('session_ended_at_ms', 'is', null)
    .execute()
  return counts as MovedRows
}
