import { Kysely } from 'kysely'
import { openSqliteFile, type SqliteDatabase } from '../../../packages/sqlite/src/sqlite.js'
import { unknownMigrations } from '../database.js'
import { migrations } from '../migrations.js'
import type { Schema } from '../schema.js'
import { readContent, type StoredContent } from '../stored-content.js'
import { sqliteDialect } from './sqlite-driver.js'

/** State of a database file. */
interface StoredState {
  /** The first fault that SQLite finds; undefined when it finds none. */
  readonly damage: string | undefined
  /** Why this version cannot use the file; undefined when it knows all of its migrations. */
  readonly unknown: string | undefined
  /** Names of migrations that this version would run. */
  readonly pending: readonly string[]
}

/** The pages of a larger file are not checked, because the check takes too long. */
const MAX_CHECKED_BYTES = 64 * 1024 * 1024
/** Result of SQLite's check without a fault. */
const SOUND = 'ok'

/**
 * Reads the state of a database without changing it.
 * @throws SQLite's error when the file cannot be opened, or is not a database
 */
export function readStoredState(path: string, sizeBytes: number): StoredState {
  const sqlite = openToRead(path)
  try {
    const isChecked = sizeBytes <= MAX_CHECKED_BYTES
    const check = isChecked ? String(sqlite.pragma('quick_check(1)', { simple: true })) : SOUND
    const applied = check === SOUND ? readMigrations(sqlite) : []
    return {
      damage: check === SOUND ? undefined : check,
      unknown: unknownMigrations(applied, migrations),
      pending: Object.keys(migrations).filter((name) => !applied.includes(name)),
    }
  } finally {
    sqlite.close()
  }
}

/** Reads the content of a database with the tables of this version. */
export async function readStoredContent(path: string): Promise<StoredContent> {
  const database = new Kysely<Schema>({ dialect: sqliteDialect(openToRead(path)) })
  try {
    return await readContent(database)
  } finally {
    await database.destroy()
  }
}

function openToRead(path: string): SqliteDatabase {
  return openSqliteFile(path, { readonly: true, fileMustExist: true })
}

/** Reads the names of a file's applied migrations; empty when it has no tables of the service. */
export function readMigrations(sqlite: SqliteDatabase): string[] {
  const table = sqlite.prepare("select 1 from sqlite_master where name = 'kysely_migration'").get()
  if (table === undefined) return []
  return sqlite.prepare<[], string>('select name from kysely_migration').pluck().all()
}
