import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { openSqliteFile } from '../../../packages/sqlite/src/sqlite.js'
import type { Database } from '../../../src/store/database.js'
import { migrations } from '../../../src/store/migrations.js'
import { takeFileLock } from '../../../src/store/sqlite/file-lock.js'
import { openSqlite, openSqliteTables } from '../../../src/store/sqlite/sqlite.js'
import { temporaryFile } from '../../support/databases/temporary-file.js'

const row = { chain_id: 1, address: '0x', last_timestamp_ms: 1 }

/** Until the end of the test. */
async function opened(opening: Promise<Database>): Promise<Database> {
  const database = await opening
  onTestFinished(() => database.destroy())
  return database
}

async function pragma(database: Database, name: string): Promise<unknown> {
  const { rows } = await sql<Record<string, unknown>>`pragma ${sql.raw(name)}`.execute(database)
  return rows[0]?.[name]
}

test('a file has a write-ahead log and the requested flushes', async () => {
  const full = await opened(openSqlite(temporaryFile()))
  const tables = { migrations, synchronous: 'NORMAL' } as const
  const normal = await opened(openSqliteTables(temporaryFile(), tables))
  const settings = (database: Database) =>
    Promise.all(['journal_mode', 'synchronous'].map((name) => pragma(database, name)))
  expect(await settings(full)).toEqual(['wal', 2])
  expect(await settings(normal)).toEqual(['wal', 1])
})

test('the files of a database can be read by their owner only, whatever the umask is', async () => {
  const path = temporaryFile()
  const umask = process.umask(0o022)
  onTestFinished(() => void process.umask(umask))
  const lock = takeFileLock(path)
  onTestFinished(lock.release)
  const database = await opened(openSqlite(path))
  await database.insertInto('solver_timestamps').values(row).execute()
  const folder = dirname(path)
  const modes = readdirSync(folder).map((name) => [name, statSync(join(folder, name)).mode & 0o777])
  expect(modes.length).toBeGreaterThanOrEqual(3)
  expect(modes.filter(([, mode]) => mode !== 0o600)).toEqual([])
})

const DAMAGED =
  'cannot be opened: the file is damaged: restore it from a backup and delete -wal and -shm next to it'

test.each<[string, string, (path: string) => unknown]>([
  ['that is not a database', DAMAGED, (path) => writeFileSync(path, 'no database'.repeat(1000))],
  [
    'in a folder that does not exist',
    'cannot be opened: its folder does not exist: create it',
    (path) => rmSync(dirname(path), { recursive: true }),
  ],
])('a file %s is not opened, and the error has file and remedy in one line', async (_which, text, spoil) => {
  const path = join(dirname(temporaryFile()), 'folder', 'service.db')
  mkdirSync(dirname(path))
  await spoil(path)
  const message = expect.stringMatching(new RegExp(`^is ${path}, which ${text}.*$`))
  await expect(openSqlite(path)).rejects.toMatchObject({
    name: 'ConfigError',
    issues: [{ variable: 'DB_PATH', message }],
  })
  // It is closed again.
  expect(existsSync(`${path}-wal`)).toBe(false)
})

test('a transaction that reads first can write after another process tried to write meanwhile', async () => {
  const path = temporaryFile()
  const service = await opened(openSqlite(path))
  const other = openSqliteFile(path, { timeout: 0 })
  onTestFinished(() => void other.close())
  const writeOther = other.prepare(`insert into solver_timestamps values (1, ?, 1)`)
  await service.transaction().execute(async (transaction) => {
    await transaction.selectFrom('solver_timestamps').selectAll().execute()
    expect(() => writeOther.run('0x01')).toThrow('database is locked')
    await transaction
      .insertInto('solver_timestamps')
      .values({ ...row, address: '0x02' })
      .execute()
  })
  writeOther.run('0x03')
  const rows = await service.selectFrom('solver_timestamps').select('address').execute()
  expect(rows.map(({ address }) => address)).toEqual(['0x02', '0x03'])
})

test('an error that SQLite rolls back itself reaches the caller, and the next transaction works', async () => {
  const database = await opened(openSqlite(temporaryFile()))
  const pages = await pragma(database, 'page_count')
  await sql`pragma max_page_count = ${sql.raw(String(pages))}`.execute(database)
  const write = (count: number) =>
    database.transaction().execute(async (transaction) => {
      for (let number = 0; number < count; number++) {
        const address = `0x${number.toString(16).padStart(1000, '0')}`
        await transaction
          .insertInto('solver_timestamps')
          .values({ ...row, address })
          .execute()
      }
    })
  await expect(write(1000)).rejects.toMatchObject({ code: 'SQLITE_FULL' })
  expect(await database.selectFrom('solver_timestamps').selectAll().execute()).toEqual([])
  await sql`pragma max_page_count = 1000000`.execute(database)
  await write(2)
  expect(await database.selectFrom('solver_timestamps').selectAll().execute()).toHaveLength(2)
})
