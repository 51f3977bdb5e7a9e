import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { POSTGRES_TABLES } from '../../../src/store/postgres/postgres-stores.js'
import { type Postgres, startPostgres } from '../../support/databases/postgres.js'
import { createPostgresDatabase, makeDatabase } from '../../support/databases/postgres-database.js'
import { eventually } from '../../support/eventually.js'
import { startService } from '../../support/service/service.js'
import { ADA, BOB, type DoctorFixture, startDoctorFixture } from './doctor.js'

const PASSWORD = 'open-sesame'

let database: Awaited<ReturnType<typeof makeDatabase>>
let fixture: DoctorFixture

beforeAll(async () => {
  database = await makeDatabase()
  await closeToOthers(database.url)
  fixture = await startDoctorFixture({ DATABASE_URL: database.url })
})
afterAll(async () => {
  await fixture?.close()
  await database?.drop()
})

/** Returns the results of doctor with this database. */
const diagnose = (url: string) => fixture.diagnose({ DATABASE_URL: url })

/** Runs a statement on the database. */
async function run(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

/** Does what doctor advises, so that it warns of nothing. */
const closeToOthers = (url: string) =>
  run(url, `revoke connect on database "${new URL(url).pathname.slice(1)}" from public`)

/** Makes the server read its configuration again, and waits until it has. */
async function reload(url: string): Promise<void> {
  const loadedAt = async () => (await run(url, 'select pg_conf_load_time()::text as at'))[0]?.at
  const before = await loadedAt()
  await run(url, 'select pg_reload_conf()')
  await eventually(loadedAt, (at) => at !== before)
}

/** Returns the URL with changed parts. */
function changed(url: string, parts: Partial<Pick<URL, 'username' | 'password' | 'pathname' | 'search'>>) {
  return Object.assign(new URL(url), parts).href
}

describe('a PostgreSQL that replicas use', () => {
  const CHECKS = ['reachable', 'version', 'rights', 'tables', 'connections']

  it('is checked instead of the file, and its solvers get requests', async () => {
    const { checkResults, failed, warned, find } = await diagnose(database.url)
    expect([failed, warned]).toEqual([[], []])
    const checks = checkResults.map(({ check }) => check)
    expect(checks.slice(checks.indexOf('SERVICE_ADDRESS_31337 PROTOCOL_NAME') + 1)).toEqual([
      ...CHECKS.map((check) => `DATABASE_URL ${check}`),
      ADA,
      BOB,
    ])
    expect(find('DATABASE_URL tables')?.checkResult).toBe('they have this version')
    expect(find('DATABASE_URL version')?.checkResult).toMatch(/^PostgreSQL \d+(\.\d+)?/)
    expect(find('DATABASE_URL connections')?.checkResult).toMatch(
      /^\d+ of \d+ are free; a replica uses up to 12$/,
    )
  })

  it('stays empty when it was empty', async () => {
    const url = await createPostgresDatabase()
    await closeToOthers(url)
    const { failed, warned, find } = await diagnose(url)
    expect([failed, warned]).toEqual([[], []])
    expect(find('DATABASE_URL tables')?.checkResult).toBe('the first start creates them')
    expect(await run(url, "select * from pg_tables where schemaname = 'public'")).toEqual([])
  })

  it('is reported when its tables have another version', async () => {
    const [table] = Object.values(POSTGRES_TABLES).map(({ migrationTable }) => migrationTable)
    await run(database.url, `insert into ${table} values ('999-later', '2100-01-01')`)
    const newer = await diagnose(database.url)
    expect([newer.failed, newer.warned]).toEqual([['DATABASE_URL tables'], []])
    expect(newer.find('DATABASE_URL tables')?.checkResult).toContain('a newer version, with 999-later')
    const [last] = await run(database.url, `delete from ${table} returning name`)
    const older = await diagnose(database.url)
    expect([older.failed, older.warned]).toEqual([[], ['DATABASE_URL tables']])
    expect(older.find('DATABASE_URL tables')?.checkResult).toContain(`the next start adds ${last?.name}`)
    const names = `insert into ${table} values ('${last?.name}', '2026-01-01')`
    await run(database.url, names)
  })
})

describe('a PostgreSQL whose users have passwords and few rights', () => {
  let server: Postgres

  beforeAll(async () => {
    server = await startPostgres()
    const [{ hba_file }] = (await run(server.url, 'show hba_file')) as [{ hba_file: string }]
    const rules = ['host all postgres 127.0.0.1/32 trust', 'host all all 127.0.0.1/32 scram-sha-256']
    await run(server.url, `copy (select unnest(array['${rules.join("','")}'])) to '${hba_file}'`)
    await run(server.url, `create role ada login password '${PASSWORD}'`)
    await run(server.url, 'create database quotes')
    // This is the default from version 15 on.
    await run(quotes('postgres'), 'revoke create on schema public from public')
    await closeToOthers(quotes('postgres'))
    await run(quotes('postgres'), 'grant connect on database quotes to ada')
    await reload(server.url)
  })
  afterAll(() => server?.stop())

  /** Returns the URL of the database for a user. */
  const quotes = (username: string, password = PASSWORD) =>
    changed(server.url, { username, password, pathname: '/quotes' })
  /** Runs the statement of a remedy. */
  const follow = (remedy = '') => run(quotes('postgres'), remedy.replace(/^.*: /, ''))

  it('rejects a wrong password, which the result does not contain', async () => {
    const { checkResults, failed, find } = await diagnose(quotes('ada', 'close-sesame'))
    expect(failed).toEqual(['DATABASE_URL reachable'])
    expect(find('DATABASE_URL reachable')).toMatchObject({
      checkResult: expect.stringMatching(/password authentication failed for user "ada"$/),
    })
    expect(JSON.stringify(checkResults)).not.toContain('sesame')
  })

  it('must let its user create tables while there are none', async () => {
    const refused = await diagnose(quotes('ada'))
    expect(refused.failed).toEqual(['DATABASE_URL rights'])
    const { checkResult, remedy } = refused.find('DATABASE_URL rights') ?? {}
    expect(checkResult).toBe('user ada may not create tables in schema public of database quotes')
    await follow(remedy)
    expect((await diagnose(quotes('ada'))).failed).toEqual([])
  })

  it('must let its user write the tables of another user', async () => {
    const service = await startService(fixture.chain, { DATABASE_URL: quotes('postgres') })
    await service.close()
    const refused = await diagnose(quotes('ada'))
    expect(refused.failed).toEqual(['DATABASE_URL rights'])
    const { checkResult, remedy } = refused.find('DATABASE_URL rights') ?? {}
    expect(checkResult).toMatch(
      /^user ada may not read and write quote_aggregator_migration, .*, rate_limits in schema pub/,
    )
    expect(refused.find('DATABASE_URL tables')).toBeUndefined()
    await follow(remedy)
    const allowed = await diagnose(quotes('ada'))
    expect([allowed.failed, allowed.find('DATABASE_URL tables')?.status]).toEqual([[], 'ok'])
    const servedAgain = await startService(fixture.chain, { DATABASE_URL: quotes('ada') })
    await servedAgain.close()
  })
})
