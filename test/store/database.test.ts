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

describe.each(NEW_DATABASES)('a new database of %s', (_which, create) => {
  test('gets every migration, and empty tables', async () => {
    const on = await create()
    const { database } = await on.open()
    expect((await executedMigrations(on, database)).map(({ name }) => name)).toEqual(Object.keys(migrations))
    expect(await database.selectFrom('solvers').selectAll().execute()).toEqual([])
    expect(await database.selectFrom('event_log').selectAll().execute()).toEqual([
      { log_id: expect.stringMatching(/^[\w-]{8}$/), last_sequence: 0, pruned_sequence: 0 },
    ])
  })
})

describe.each(NEW_DATABASES)('a database of %s that is opened again', (_which, create) => {
  test('gets no migration, and keeps its content', async () => {
    const on = await create()
    const first = await on.open()
    const row = { chain_id: 1, address: '0x', last_timestamp_ms: Number.MAX_SAFE_INTEGER }
    await first.database.insertInto('solver_timestamps').values(row).execute()
    const executed = await executedMigrations(on, first.database)
    await first.close()

    const { database } = await on.open()
    expect(await executedMigrations(on, database)).toEqual(executed)
    expect(await database.selectFrom('solver_timestamps').selectAll().execute()).toEqual([row])
  })

  test('is rejected when a newer version wrote it', async () => {
    const on = await create()
    const { database, close } = await on.open()
    await sql`insert into ${notesOf(on)} (name, timestamp) values ('999-later', '2100')`.execute(database)
    await close()
    await expect(on.open()).rejects.toThrow('was written by a newer version, with 999-later')
  })

  test('is rejected in one line when it is from before the first release', async () => {
    const on = await create()
    const { database, close } = await on.open()
    await sql`update ${notesOf(on)} set name = '013-solver-hours' where name = '001-initial'`.execute(
      database,
    )
    await close()
    await expect(on.open()).rejects.toThrow(
      /is from before the first release, and no version migrates it: .*$/,
    )
  })
})
