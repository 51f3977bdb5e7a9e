import type { TestProject } from 'vitest/node'
import { type Postgres, startPostgres } from './postgres.js'

declare module 'vitest' {
  interface ProvidedContext {
    /** URL of a PostgreSQL whose user may create databases. */
    postgresUrl: string
  }
}

/** All projects of a run share one server. The first project starts it, and the last one stops it. */
const shared = globalThis as { postgresForTests?: { server: Promise<Postgres>; users: number } | undefined }

/** Provides a PostgreSQL for the tests: that of TEST_DATABASE_URL, or a server of its own. */
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
    if (--postgresForTests.users > 0) return
    // The slow tests that failed are run once more in this process.
    shared.postgresForTests = undefined
    await server.stop()
  }
}
