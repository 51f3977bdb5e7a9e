import { setImmediate as nextTurn } from 'node:timers/promises'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../../packages/protocol/src/clock.js'
import { openSqliteFile } from '../../../packages/sqlite/src/sqlite.js'
import type { Database } from '../../../src/store/database.js'
import { openSqlite } from '../../../src/store/sqlite/sqlite.js'
import { openSqliteStores } from '../../../src/store/sqlite/sqlite-stores.js'
import { temporaryFile } from '../../support/databases/temporary-file.js'
import { eventually } from '../../support/eventually.js'
import { NO_LIMIT, solver } from '../solvers/solver-samples.js'

/** Turns of the event loop in which a write could have ended. */
const TURNS = 100

async function opened(path: string): Promise<Database> {
  const database = await openSqlite(path)
  onTestFinished(() => database.destroy())
  return database
}

/** Holds the file's write lock like another process. @returns the function that releases it */
function hold(path: string): () => void {
  const holder = openSqliteFile(path)
  onTestFinished(() => void holder.close())
  holder.exec('begin immediate')
  return () => holder.exec('commit')
}

const write = (database: Database, number: number) =>
  database
    .insertInto('solver_timestamps')
    .values({ chain_id: 1, address: `0x${number}`, last_timestamp_ms: number })
    .execute()

const readAddresses = async (database: Database) => {
  const rows = await database
    .selectFrom('solver_timestamps')
    .select('address')
    .orderBy('rowid' as 'address')
    .execute()
  return rows.map(({ address }) => address)
}

test('a write waits for the lock of another process, while the event loop and reads continue', async () => {
  const path = temporaryFile()
  const database = await opened(path)
  await write(database, 1)
  const letGo = hold(path)
  let isWritten = false
  const writing = write(database, 2).then(() => {
    isWritten = true
  })
  for (let turn = 0; turn < TURNS; turn++) {
    expect(await readAddresses(database)).toEqual(['0x1'])
    await nextTurn()
  }
  expect(isWritten).toBe(false)
  letGo()
  await writing
  expect(await readAddresses(database)).toEqual(['0x1', '0x2'])
})

test('writes and transactions that waited for the lock all succeed, in their order', async () => {
  const path = temporaryFile()
  const database = await opened(path)
  const letGo = hold(path)
  const done: number[] = []
  const works = [1, 2, 3, 4, 5, 6].map(async (number) => {
    if (number % 2 === 0) await write(database, number)
    else
      await database.transaction().execute(async (transaction) => {
        await transaction.selectFrom('solver_timestamps').selectAll().execute()
        await nextTurn()
        await write(transaction, number)
      })
    done.push(number)
  })
  for (let turn = 0; turn < TURNS; turn++) await nextTurn()
  expect(done).toEqual([])
  letGo()
  await Promise.all(works)
  expect(done).toEqual([1, 2, 3, 4, 5, 6])
  expect(await readAddresses(database)).toEqual(['0x1', '0x2', '0x3', '0x4', '0x5', '0x6'])
})

test('a read waits for a transaction under way, and sees nothing of it before its end', async () => {
  const database = await opened(temporaryFile())
  let read: Promise<string[]> | undefined
  await database.transaction().execute(async (transaction) => {
    await write(transaction, 1)
    read = readAddresses(database)
    await nextTurn()
    await write(transaction, 2)
  })
  expect(await read).toEqual(['0x1', '0x2'])
})

test('a lock that stays is reported, shows in the health, and ends with the other process', async () => {
  const path = temporaryFile()
  const lines: string[] = []
  const log = pino({ base: null }, { write: (line) => void lines.push(line) })
  const stores = await openSqliteStores({
    dbPath: path,
    quoteRecordHours: 0,
    quoteRecordMaxBytes: 0,
    solverAllowlist: false,
    clock: systemClock,
    log,
  })
  onTestFinished(stores.close)
  const letGo = hold(path)
  await expect(stores.solvers.save(solver(1), 100, NO_LIMIT)).rejects.toMatchObject({
    reason: 'DATABASE_UNAVAILABLE',
    cause: { message: expect.stringContaining('another process has held its lock for more than 5 s') },
  })
  expect(stores.isUp()).toBe(false)
  expect(lines).toHaveLength(1)
  letGo()
  await eventually(async () => stores.isUp(), Boolean)
  expect(lines.map((line) => JSON.parse(line).msg)).toEqual([
    'the database file cannot be used: another process has held its lock for more than 5 s: end that process',
    'the database file can be used again',
  ])
  await stores.solvers.save(solver(1), 100, NO_LIMIT)
  expect(await stores.solvers.readAll()).toEqual([solver(1)])
})
