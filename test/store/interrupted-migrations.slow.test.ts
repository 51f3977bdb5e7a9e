import { copyFileSync, existsSync } from 'node:fs'
import { type Kysely, sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { openSqliteFile, type SqliteDatabase } from '../../packages/sqlite/src/sqlite.js'
import { openTables, type TableSet } from '../../src/store/database.js'
import { migrations } from '../../src/store/migrations.js'
import { createConnectionPool } from '../../src/store/postgres/postgres.js'
import { POSTGRES_TABLES } from '../../src/store/postgres/postgres-stores.js'
import { quoteRecordMigrations } from '../../src/store/records/quote-record-table.js'
import type { Schema } from '../../src/store/schema.js'
import { openSqliteTables } from '../../src/store/sqlite/sqlite.js'
import { sqliteDialect } from '../../src/store/sqlite/sqlite-driver.js'
import { createPostgresDatabase } from '../support/databases/postgres-database.js'
import { temporaryFile } from '../support/databases/temporary-file.js'
import { startDatabaseProxy } from './database-proxy.js'

const names = Object.keys(migrations)
const TIMEOUT_MS = 60_000

async function schemaOf(database: Kysely<Schema>) {
  const { rows: schema } =
    await sql`select type, name, tbl_name, sql from sqlite_master order by type, name`.execute(database)
  const { rows: applied } = await sql`select name from kysely_migration order by name`.execute(database)
  return { schema, applied }
}

/** Opens a file like a start. @returns its content then */
async function openComplete(path: string, tables: TableSet) {
  const database = await openSqliteTables<Schema>(path, { ...tables, synchronous: 'NORMAL' })
  try {
    return await schemaOf(database)
  } finally {
    await database.destroy()
  }
}

/** @param onStatement called before each statement */
function openRaw(path: string, onStatement: () => void): SqliteDatabase {
  const sqlite = openSqliteFile(path, { verbose: onStatement })
  sqlite.pragma('journal_mode = WAL')
  return sqlite
}

/** Copies a database with SQLite's files next to it, as a kill at this moment would leave it. */
function copyFiles(path: string): string {
  const copy = temporaryFile()
  for (const suffix of ['', '-wal', '-shm', '-journal'])
    if (existsSync(path + suffix)) copyFileSync(path + suffix, copy + suffix)
  return copy
}

describe('a start with a file that is killed at any statement', () => {
  test.each([
    ['the database', { migrations }],
    ['the records of quotes', { migrations: quoteRecordMigrations }],
  ])(
    'leaves %s in a state in which the next start works, when there was no file',
    async (_what, tables) => {
      const expected = await openComplete(temporaryFile(), tables)
      const path = temporaryFile()
      const copies: string[] = []
      const sqlite = openRaw(path, () => copies.push(copyFiles(path)))
      await (await openTables(sqliteDialect(sqlite), tables)).destroy()
      copies.push(copyFiles(path))
      expect(copies.length).toBeGreaterThan(10)
      for (const copy of copies) expect(await openComplete(copy, tables)).toEqual(expected)
    },
    TIMEOUT_MS,
  )
})

test(
  'a first start with PostgreSQL that loses its connection at any message leaves a database for the next start',
  async () => {
    const url = await createPostgresDatabase()
    const proxy = await startDatabaseProxy(url)
    let cuts = 0
    for (let isDone = false; !isDone; ) {
      proxy.truncateAfter(cuts + 1)
      const pool = createConnectionPool(proxy.url)
      try {
        await openTables<Schema>(pool.dialect(), POSTGRES_TABLES.main)
        isDone = true
      } catch {
        cuts++
      } finally {
        await pool.close()
      }
    }
    expect(cuts).toBeGreaterThan(names.length)

    const pool = createConnectionPool(url)
    const database = await openTables<Schema>(pool.dialect(), POSTGRES_TABLES.main)
    const table = sql.table(POSTGRES_TABLES.main.migrationTable)
    const { rows } = await sql<{ name: string }>`select name from ${table} order by name`.execute(database)
    expect(rows.map(({ name }) => name)).toEqual(names)
    expect(await database.selectFrom('event_log').selectAll().execute()).toHaveLength(1)
    expect(await database.selectFrom('record_keys').selectAll().execute()).toHaveLength(1)
    await pool.close()
  },
  TIMEOUT_MS,
)
