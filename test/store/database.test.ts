import { type Kysely, sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { migrations } from '../../src/store/migrations.js'
import type { Schema } from '../../src/store/schema.js'
import { NEW_DATABASES, type NewDatabase } from './databases.js'

const notesOf = ({ tables }: NewDatabase) => sql.table(tables.migrationTable ?? 'kysely_migration')

async function executedMigrations(on: NewDatabase, database: Kysely<Schema>) {
  const { rows } = await sql<{ name: string; timestamp: string }>`
    select name, timestamp from ${notesOf(on)} order by name
  `.execute(database)
  return rows
}

describe.each(NEW_DATABASES)('a database of %s', (_which, create) => {
  test('gets every migration and empty tables, and keeps its content when it is opened again', async () => {
    const on = await create()
    const first = await on.open()
    const executed = await executedMigrations(on, first.database)
    expect(executed.map(({ name }) => name)).toEqual(Object.keys(migrations))
    expect(await first.database.selectFrom('solver_timestamps').selectAll().execute()).toEqual([])
    expect(await first.database.selectFrom('event_log').selectAll().execute()).toEqual([
      { log_id: expect.stringMatching(/^[\w-]{8}$/), last_sequence: 0, pruned_sequence: 0 },
    ])
    const row = { chain_id: 1, address: '0x', last_timestamp_ms: Number.MAX_SAFE_INTEGER }
    await first.database.insertInto('solver_timestamps').values(row).execute()
    await first.close()

    const { database } = await on.open()
    expect(await executedMigrations(on, database)).toEqual(executed)
    expect(await database.selectFrom('solver_timestamps').selectAll().execute()).toEqual([row])
  })

  test.each([
    [
      '004-changed-keys',
      '999-later',
      /was written by a newer version, with 999-later: run that version, or restore the backup.*$/,
    ],
    ['001-initial', '013-solver-hours', /is from before the first release, and no version migrates it: .*$/],
  ])('is rejected in one line when it has no %s but %s', async (known, unknown, message) => {
    const on = await create()
    const { database, close } = await on.open()
    await sql`update ${notesOf(on)} set name = ${unknown} where name = ${known}`.execute(database)
    await close()
    await expect(on.open()).rejects.toThrow(message)
  })
})
