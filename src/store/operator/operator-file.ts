import { Kysely, type Migration } from 'kysely'
import { openSqliteFile, type SqliteDatabase } from '../../../packages/sqlite/src/sqlite.js'
import { ConfigError } from '../../config/environment.js'
import { assertOwnVersion } from '../migrations.js'
import { recordFileOf } from '../records/quote-record-file.js'
import { searchRecords } from '../records/quote-record-reads.js'
import type { QuoteRecordSchema, RecordSearch } from '../records/quote-record-store.js'
import { quoteRecordMigrations } from '../records/quote-record-table.js'
import type { Schema } from '../schema.js'
import { sqliteDialect } from '../sqlite/sqlite-driver.js'
import { readMigrations } from '../sqlite/sqlite-inspection.js'
import { createApiKeyStore } from './api-key-store.js'
import { createSolverLists } from './listed-solvers.js'
import type { OperatorStores } from './operator-stores.js'

const VARIABLE = 'DB_PATH'

/** Opens the operator's stores in a SQLite file. @throws ConfigError */
export function openOperatorFile(path: string): OperatorStores {
  const database = openExisting<Schema>(path, VARIABLE)
  return {
    lists: createSolverLists(database),
    keys: createApiKeyStore(database),
    async searchRecords(search: RecordSearch) {
      const records = openExisting<QuoteRecordSchema>(recordFileOf(path), VARIABLE, quoteRecordMigrations)
      try {
        return await searchRecords(records, search)
      } finally {
        await records.destroy()
      }
    },
    close: () => database.destroy(),
  }
}

/** Opens a file that has the tables of this version. @param variable names the file @throws ConfigError */
export function openExisting<S>(
  path: string,
  variable: string,
  migrations?: Readonly<Record<string, Migration>>,
): Kysely<S> {
  const sqlite = openFile(path, variable)
  try {
    assertOwnVersion(variable, readMigrations(sqlite), migrations)
  } catch (error) {
    sqlite.close()
    throw error
  }
  return new Kysely<S>({ dialect: sqliteDialect(sqlite) })
}

function openFile(path: string, variable: string): SqliteDatabase {
  try {
    if (path === ':memory:') throw new Error('no other process can see it')
    return openSqliteFile(path, { fileMustExist: true })
  } catch (error) {
    const message = `is ${path}, which cannot be opened: ${(error as Error).message}`
    throw new ConfigError([{ variable, message }])
  }
}
