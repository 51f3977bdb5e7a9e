import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { sql } from 'kysely'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../../packages/protocol/src/clock.js'
import { loadSqlite, openSqliteFile } from '../../../packages/sqlite/src/sqlite.js'
import { createSolverStore } from '../../../src/store/solvers/solver-store.js'
import { createFileHealth, faultErrorOf } from '../../../src/store/sqlite/file-health.js'
import { openSqlite } from '../../../src/store/sqlite/sqlite.js'
import { openSqliteStores } from '../../../src/store/sqlite/sqlite-stores.js'
import { nameUnavailable } from '../../../src/store/write-health.js'
import { storedRecord } from '../../support/databases/stored-record.js'
import { temporaryFile } from '../../support/databases/temporary-file.js'
import { eventually } from '../../support/eventually.js'
import { NO_LIMIT, solver } from '../solvers/solver-samples.js'

function createLines() {
  const lines: string[] = []
  const log = pino({ base: null }, { write: (line) => void lines.push(line) })
  return { log, messages: () => lines.map((line) => JSON.parse(line).msg as string) }
}

async function openStores(dbPath: string) {
  const { log, messages } = createLines()
  const options = {
    dbPath,
    quoteRecordHours: 1,
    quoteRecordMaxBytes: 1_000_000,
    solverAllowlist: false,
    clock: systemClock,
    log,
  }
  const stores = await openSqliteStores(options)
  onTestFinished(stores.close)
  return { stores, messages }
}

const isOneLine = (text: string) => expect.stringMatching(new RegExp(`^[^\\n]*${text}[^\\n]*$`))

test('a full disk on which no write-ahead log can be opened is reported as one', () => {
  const error = new (loadSqlite().SqliteError)('disk I/O error', 'SQLITE_IOERR_SHMSIZE')
  expect(faultErrorOf(error)?.message).toBe('the disk is full: make room (disk I/O error)')
})

test('a full disk is reported, and its end is noticed without traffic', async () => {
  const path = temporaryFile()
  const { log, messages } = createLines()
  const health = createFileHealth(path, systemClock, log)
  onTestFinished(health.close)
  const database = await openSqlite(path, health)
  onTestFinished(() => database.destroy())
  health.start(() => database.updateTable('event_log').set({ last_sequence: 0 }).execute())
  const solvers = nameUnavailable(createSolverStore(database), faultErrorOf)
  await sql`pragma max_page_count = 1`.execute(database)
  const name = 'x'.repeat(50_000)
  await expect(solvers.save({ ...solver(1), name }, 100, NO_LIMIT)).rejects.toMatchObject({
    reason: 'DATABASE_UNAVAILABLE',
    cause: { message: 'the disk is full: make room (database or disk is full)' },
  })
  expect(health.isUp()).toBe(false)
  expect(messages()).toEqual(['the database file cannot be used: the disk is full: make room'])
  await eventually(async () => health.isUp(), Boolean)
  expect(messages().slice(1)).toEqual(['the database file can be used again'])
})

test('a file that is deleted while it is used takes no write until it is back', async () => {
  const path = temporaryFile()
  const { stores, messages } = await openStores(path)
  await stores.solvers.save(solver(1), 100, NO_LIMIT)
  expect(stores.isUp()).toBe(true)

  renameSync(path, `${path}-away`)
  expect(stores.isUp()).toBe(false)
  await expect(stores.solvers.save(solver(2), 100, NO_LIMIT)).rejects.toMatchObject({
    reason: 'DATABASE_UNAVAILABLE',
    cause: {
      message: isOneLine('the file was deleted or replaced while the service runs: stop the service'),
    },
  })
  expect(messages()).toHaveLength(1)

  renameSync(`${path}-away`, path)
  await stores.solvers.save(solver(2), 100, NO_LIMIT)
  expect(stores.isUp()).toBe(true)
  expect(await stores.solvers.readAll()).toHaveLength(2)
})

test('a file that is damaged while it is used stays unusable until the next start', async () => {
  const { log, messages } = createLines()
  const path = temporaryFile()
  const health = createFileHealth(path, systemClock, log)
  onTestFinished(health.close)
  const database = await openSqlite(path, health)
  onTestFinished(() => database.destroy())
  health.start(async () => {})
  await sql`pragma wal_checkpoint(truncate)`.execute(database)
  writeFileSync(path, readFileSync(path).fill(0xff, 4096))
  await sql`pragma shrink_memory`.execute(database)
  const solvers = nameUnavailable(createSolverStore(database), faultErrorOf)
  await expect(solvers.save(solver(1), 100, NO_LIMIT)).rejects.toMatchObject({
    reason: 'DATABASE_UNAVAILABLE',
    cause: { message: isOneLine('the file is damaged: restore it from a backup') },
  })
  expect(health.isUp()).toBe(false)
  health.onWritten()
  expect(health.isUp()).toBe(false)
  expect(messages()).toHaveLength(1)
})

test('records that cannot be written wait, and the reason is logged once', async () => {
  const path = temporaryFile()
  const { stores, messages } = await openStores(path)
  const holder = openSqliteFile(`${path}-quotes`)
  onTestFinished(() => void holder.close())
  holder.exec('begin immediate')
  const record = storedRecord()
  const saves = [1, 2].map(() => stores.quoteRecords?.save([record]))
  const unavailable = { reason: 'DATABASE_UNAVAILABLE' }
  await Promise.all(saves.map((save) => expect(save).rejects.toMatchObject(unavailable)))
  expect(messages()).toEqual([
    isOneLine('the database file cannot be used: another process has held its lock'),
  ])
  expect(stores.isUp()).toBe(true)
  holder.exec('rollback')
  await stores.quoteRecords?.save([record])
  expect(await stores.quoteRecords?.read('1')).toBe('{}')
})
