import { type Kysely, sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { migrations, type Schema } from '../../src/store/schema.js'
import { DATABASES, DURABLE_DATABASES } from './databases.js'

async function executedMigrations(database: Kysely<Schema>) {
  const { rows } = await sql<{ name: string; timestamp: string }>`
    select name, timestamp from kysely_migration order by name
  `.execute(database)
  return rows
}

describe.each(DATABASES)('a fresh database %s', (_where, kind) => {
  const create = kind()

  test('gets every migration, and tables with nothing in them', async () => {
    const { database } = await (await create()).open()
    expect((await executedMigrations(database)).map(({ name }) => name)).toEqual(Object.keys(migrations))
    expect(await database.selectFrom('solvers').selectAll().execute()).toEqual([])
    expect(await database.selectFrom('event_log').selectAll().execute()).toEqual([
      { log_id: expect.stringMatching(/^[\w-]{8}$/), last_sequence: 0, pruned_sequence: 0 },
    ])
  })
})

describe.each(DURABLE_DATABASES)('a database %s that is opened again', (_where, kind) => {
  const create = kind()

  test('gets no migration, and keeps what is in it', async () => {
    const place = await create()
    const first = await place.open()
    const row = { chain_id: 1, address: '0x', last_timestamp_ms: Number.MAX_SAFE_INTEGER }
    await first.database.insertInto('solver_timestamps').values(row).execute()
    const executed = await executedMigrations(first.database)
    await first.close()

    const { database } = await place.open()
    expect(await executedMigrations(database)).toEqual(executed)
    expect(await database.selectFrom('solver_timestamps').selectAll().execute()).toEqual([row])
  })

  test('is refused when a newer version wrote it', async () => {
    const place = await create()
    const { database, close } = await place.open()
    await sql`insert into kysely_migration (name, timestamp) values ('999-later', '2100-01-01')`.execute(
      database,
    )
    await close()
    await expect(place.open()).rejects.toThrow('999-later')
  })
})
