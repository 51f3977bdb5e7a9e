import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { type Database, openDatabase } from '../../src/store/database.js'
import { migrations } from '../../src/store/schema.js'
import { temporaryFile } from './temporary-file.js'

async function executedMigrations(database: Database) {
  const { rows } = await sql<{ name: string; timestamp: string }>`
    select name, timestamp from kysely_migration order by name
  `.execute(database)
  return rows
}

test('a fresh file gets every migration', async () => {
  const database = await openDatabase(temporaryFile())
  expect((await executedMigrations(database)).map(({ name }) => name)).toEqual(Object.keys(migrations))
  expect(await database.selectFrom('solvers').selectAll().execute()).toEqual([])
  await database.destroy()
})

test('opening a file again runs no migration and keeps what is in it', async () => {
  const path = temporaryFile()
  const first = await openDatabase(path)
  const row = { chain_id: 1, address: '0x', last_timestamp_ms: Number.MAX_SAFE_INTEGER }
  await first.insertInto('solver_timestamps').values(row).execute()
  const executed = await executedMigrations(first)
  await first.destroy()

  const second = await openDatabase(path)
  expect(await executedMigrations(second)).toEqual(executed)
  expect(await second.selectFrom('solver_timestamps').selectAll().execute()).toEqual([row])
  await second.destroy()
})

test('a file written by a newer version is refused and let go of', async () => {
  const path = temporaryFile()
  const newer = await openDatabase(path)
  await sql`insert into kysely_migration (name, timestamp) values ('999-later', '2100-01-01')`.execute(newer)
  await newer.destroy()

  await expect(openDatabase(path)).rejects.toThrow('999-later')
  expect(existsSync(`${path}-wal`)).toBe(false)
})

test('a file in a folder that is not there cannot be opened', async () => {
  await expect(openDatabase(join(temporaryFile(), 'missing', 'service.db'))).rejects.toThrow()
})

test('nothing of :memory: is kept', async () => {
  const first = await openDatabase(':memory:')
  await first
    .insertInto('solver_timestamps')
    .values({ chain_id: 1, address: '0x', last_timestamp_ms: 1 })
    .execute()
  await first.destroy()
  const second = await openDatabase(':memory:')
  expect(await second.selectFrom('solver_timestamps').selectAll().execute()).toEqual([])
  await second.destroy()
})
