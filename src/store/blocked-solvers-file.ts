import SQLite from 'better-sqlite3'
import { Kysely } from 'kysely'
import { ConfigError } from '../environment.js'
import { createBlockedSolverStore, type OpenBlockedSolvers } from './blocked-solvers.js'
import { assertOwnVersion } from './own-version.js'
import type { Schema } from './schema.js'
import { sqliteDialect } from './sqlite-driver.js'
import { readMigrations } from './sqlite-inspection.js'

const VARIABLE = 'DB_PATH'

/** Opens the blocked solvers in a SQLite file. @throws ConfigError */
export function openBlockedSolversFile(path: string): OpenBlockedSolvers {
  const sqlite = openExisting(path)
  try {
    assertOwnVersion(VARIABLE, readMigrations(sqlite))
  } catch (error) {
    sqlite.close()
    throw error
  }
  const database = new Kysely<Schema>({ dialect: sqliteDialect(sqlite) })
  return { blockedSolvers: createBlockedSolverStore(database), close: () => database.destroy() }
}

function openExisting(path: string): SQLite.Database {
  try {
    if (path === ':memory:') throw new Error('no other process can see it')
    return new SQLite(path, { fileMustExist: true })
  } catch (error) {
    const message = `is ${path}, which cannot be opened: ${(error as Error).message}`
    throw new ConfigError([{ variable: VARIABLE, message }])
  }
}
