import { createHash } from 'node:crypto'
import {
  DummyDriver,
  Kysely,
  type Migration,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from 'kysely'
import { expect, test } from 'vitest'
import { createEventStore } from '../../src/store/events/event-store.js'
import { POSTGRES_TABLES } from '../../src/store/postgres/postgres-stores.js'
import { readRecordKey } from '../../src/store/stores.js'
import { createPostgresDatabase } from '../support/databases/postgres-database.js'
import { postgresAt } from './databases.js'

/**
 * What each migration does, by its name. A database keeps the names, so that two versions with one name take each other's databases.
 * A digest changes only together with the name: a changed migration gets a new name before its release, and none is changed after it.
 */
const DIGESTS = {
  'main 001-initial': 'b75fc14e12c10ca9',
  'main 002-no-circuit-breakers': '0868667f3ca491fc',
  'main 003-age-of-offers': 'bf81f0f14dec4df9',
  'main 004-changed-keys': '8c3482c34472af2a',
  'quoteRecords 001-initial': '1954fa3b424c3fae',
  'quoteRecords 002-searchable': '6687581c6e0ebf99',
  'rateLimits 001-rate-limits': '40605e37d6d3e5e7',
}

/** The SHA-256 of a migration's statements, without their parameters, which are random. */
async function digestOf(migration: Migration): Promise<string> {
  const statements: string[] = []
  const database = new Kysely<unknown>({
    dialect: {
      createDriver: () => new DummyDriver(),
      createAdapter: () => new PostgresAdapter(),
      createQueryCompiler: () => new PostgresQueryCompiler(),
      createIntrospector: (kysely) => new PostgresIntrospector(kysely),
    },
    log: ({ query }) => void statements.push(query.sql.replace(/\s+/g, ' ')),
  })
  await migration.up(database)
  return createHash('sha256').update(statements.join(';\n')).digest('hex').slice(0, 16)
}

test('no migration has other statements under the same name', async () => {
  const digests: Record<string, string> = {}
  for (const [set, { migrations }] of Object.entries(POSTGRES_TABLES))
    for (const [name, migration] of Object.entries(migrations))
      digests[`${set} ${name}`] = await digestOf(migration)
  expect(digests).toEqual(DIGESTS)
})

test('replicas that start at the same time migrate an empty database once', async () => {
  for (let round = 1; round <= 3; round++) {
    const on = postgresAt(await createPostgresDatabase())
    const opened = await Promise.all(Array.from({ length: 3 }, () => on.open()))
    const states = await Promise.all(
      opened.map(({ database }) => createEventStore(database, () => 0).readState()),
    )
    const logs = await opened[0]?.database.selectFrom('event_log').selectAll().execute()
    expect(logs).toHaveLength(1)
    const keys = await Promise.all(opened.map(({ database }) => readRecordKey(database)))
    expect(keys).toEqual(opened.map(() => keys[0]))
    const state = { logId: logs?.[0]?.log_id, lastSequence: 0, prunedSequence: 0 }
    expect(states).toEqual(opened.map(() => state))
    await Promise.all(opened.map(({ close }) => close()))
  }
})
