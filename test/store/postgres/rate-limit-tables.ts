import { Kysely, Migrator, PostgresDialect } from 'kysely'
import pg from 'pg'
import { onTestFinished } from 'vitest'
import { systemClock } from '../../../packages/protocol/src/clock.js'
import {
  openRateLimitCounters,
  rateLimitMigrations,
} from '../../../src/store/postgres/rate-limit-counters.js'
import { createPostgresDatabase } from '../../support/databases/postgres-database.js'
import { connect } from './postgres-stores-samples.js'

/** Longer than a busy machine takes to answer. */
const PATIENT_MS = 20_000

/** Creates a database with an empty table of counts. @returns its URL */
export async function createCountsDatabase(): Promise<string> {
  const databaseUrl = await createPostgresDatabase()
  await createCountsTable(databaseUrl)
  return databaseUrl
}

export async function createCountsTable(databaseUrl: string): Promise<void> {
  const pool = new pg.Pool({ connectionString: databaseUrl })
  const db = new Kysely({ dialect: new PostgresDialect({ pool }) })
  const provider = { getMigrations: async () => rateLimitMigrations }
  const { error } = await new Migrator({ db, provider }).migrateToLatest()
  await db.destroy()
  if (error !== undefined) throw error
}

/** The counters of one replica. They close with the test. */
export function openCounters(
  databaseUrl: string,
  options: Partial<Parameters<typeof openRateLimitCounters>[0]> = {},
) {
  const counters = openRateLimitCounters({
    databaseUrl,
    isUp: () => true,
    clock: systemClock,
    timeoutMs: PATIENT_MS,
    ...options,
  })
  onTestFinished(counters.close)
  return counters
}

/** Excludes all others from the counts. @returns the function that ends this */
export async function lockCounts(databaseUrl: string): Promise<() => Promise<void>> {
  const client = await connect(databaseUrl)
  await client.query('begin')
  await client.query('lock table rate_limits in access exclusive mode')
  return async () => void (await client.query('rollback'))
}
