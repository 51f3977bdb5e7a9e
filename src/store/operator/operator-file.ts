import { Kysely } from 'kysely'
import { openSqliteFile, type SqliteDatabase } from '../../../packages/sqlite/src/sqlite.js'
import { ConfigError } from '../../config/environment.js'
import { assertOwnVersion } from '../migrations.js'
import type { Schema } from '../schema.js'
import { sqliteDialect } from '../sqlite/sqlite-driver.js'
import { readMigrations } from '../sqlite/sqlite-inspection.js'
import { createApiKeyStore } from './api-key-store.js'
import { createSolverLists } from './listed-solvers.js'
import type { OperatorStores } from './operator-stores.js'

const VARIABLE = 'DB_PATH'

/** Opens the operator's stores in a SQLite file. @throws ConfigError */
export function openOperatorFile(path: string): OperatorStores {
  const sqlite = openExisting(path)
  try {
    assertOwnVersion(VARIABLE, readMigrations(sqlite))
  } catch (error) {
    sqlite.close()
    throw error
  }
  const database = new Kysely<Schema>({ dialect: sqliteDialect(sqlite) })
  return {
    lists: createSolverLists(database),
    keys: createApiKeyStore(database),
    close: () => database.destroy(),
  }
}

function openExisting(path: string): SqliteDatabase {
  try {
    if (path === ':memory:') throw new Error('no other process can see it')
    return openSqliteFile(path, { fileMustExist: true })
  } catch (error) {
    const message = `is ${path}, which cannot be opened: ${(error as Error).message}`
    throw new ConfigError([{ variable: VARIABLE, message }])
  }
}
