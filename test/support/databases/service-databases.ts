import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeDatabase } from './postgres-database.js'

/** An empty database for services that start and stop. */
export interface TestDatabase {
  /** The variable that names it. */
  readonly environment: Record<string, string>
  drop(): Promise<void>
}

async function makeFile(): Promise<TestDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'quote-aggregator-'))
  return {
    environment: { DB_PATH: join(folder, 'service.db') },
    drop: () => rm(folder, { recursive: true, force: true }),
  }
}

async function makeShared(): Promise<TestDatabase> {
  const { url, drop } = await makeDatabase()
  return { environment: { DATABASE_URL: url }, drop }
}

/** One of each kind, for tests that must pass on all of them. */
export const databases: [kind: string, make: () => Promise<TestDatabase>][] = [
  ['SQLite', makeFile],
  ['PostgreSQL', makeShared],
]
