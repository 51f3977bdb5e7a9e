import SQLite from 'better-sqlite3'
import { Kysely } from 'kysely'
import type { Solver } from '../domain/solver.js'
import type { Schema } from './schema.js'
import { createSolverStore } from './solver-store.js'
import { sqliteDialect } from './sqlite-driver.js'

/** State of a database file. */
export interface StoredState {
  /** The first fault that SQLite finds; undefined when it finds none. */
  readonly damage: string | undefined
  /** Names of migrations that this version does not know. */
  readonly newer: readonly string[]
  /** Names of migrations that this version would run. */
  readonly pending: readonly string[]
}

/** The pages of a larger file are not checked, because the check takes too long. */
const MAX_CHECKED_BYTES = 64 * 1024 * 1024
/** Result of SQLite's check without a fault. */
const SOUND = 'ok'

/**
 * Reads the state of a database without changing it.
 * @param known names of all migrations of this version
 * @throws SQLite's error when the file cannot be opened, or is not a database
 */
export function readStoredState(path: string, sizeBytes: number, known: readonly string[]): StoredState {
  const sqlite = openToRead(path)
  try {
    const isChecked = sizeBytes <= MAX_CHECKED_BYTES
    const check = isChecked ? String(sqlite.pragma('quick_check(1)', { simple: true })) : SOUND
    const applied = check === SOUND ? readMigrations(sqlite) : []
    return {
      damage: check === SOUND ? undefined : check,
      newer: applied.filter((name) => !known.includes(name)),
      pending: known.filter((name) => !applied.includes(name)),
    }
  } finally {
    sqlite.close()
  }
}

/** Reads the registered solvers of a database with the tables of this version. */
export async function readStoredSolvers(path: string): Promise<Solver[]> {
  const database = new Kysely<Schema>({ dialect: sqliteDialect(openToRead(path)) })
  try {
    return await createSolverStore(database).readAll()
  } finally {
    await database.destroy()
  }
}

function openToRead(path: string): SQLite.Database {
  return new SQLite(path, { readonly: true, fileMustExist: true })
}

/** Reads the names of a file's applied migrations; empty when it has no tables of the service. */
export function readMigrations(sqlite: SQLite.Database): string[] {
  const table = sqlite.prepare("select 1 from sqlite_master where name = 'kysely_migration'").get()
  if (table === undefined) return []
  return sqlite.prepare<[], string>('select name from kysely_migration').pluck().all()
}
