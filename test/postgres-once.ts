import type { TestProject } from 'vitest/node'
import { type Postgres, startPostgres } from '../src/devnet/postgres.js'

declare module 'vitest' {
  interface ProvidedContext {
    /** Of a PostgreSQL whose user may create databases. */
    postgresUrl: string
  }
}

/** All projects of a run share one: the first starts it, the last ends it. */
const shared = globalThis as { postgresForTests?: { server: Promise<Postgres>; users: number } }

/** Gives the tests a PostgreSQL: the one of TEST_DATABASE_URL, or one of their own. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env.TEST_DATABASE_URL
  if (given !== undefined) {
    project.provide('postgresUrl', given)
    return async () => {}
  }
  shared.postgresForTests ??= { server: startPostgres(), users: 0 }
  const { postgresForTests } = shared
  postgresForTests.users++
  const server = await postgresForTests.server
  project.provide('postgresUrl', server.url)
  return async () => {
    if (--postgresForTests.users === 0) await server.stop()
  }
}
