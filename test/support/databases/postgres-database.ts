import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject, onTestFinished } from 'vitest'

/**
 * Creates an empty database in the tests' PostgreSQL. It is removed after the test.
 * @param whenFinished the test's own hook, for concurrent tests
 * @returns its URL
 */
export async function createPostgresDatabase(whenFinished = onTestFinished): Promise<string> {
  const { url, drop } = await makeDatabase()
  whenFinished(drop)
  return url
}

/** Like `createPostgresDatabase`, for callers that drop the database themselves. */
export async function makeDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  const server = inject('postgresUrl')
  const name = `test_${randomBytes(8).toString('hex')}`
  const url = new URL(server)
  url.pathname = `/${name}`
  // A copy of files takes half as long as the default, which also writes them to the log.
  await run(server, `create database ${name} strategy file_copy`)
  // Ends connections that are still open.
  return { url: url.href, drop: () => run(server, `drop database if exists ${name} with (force)`) }
}

async function run(server: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: server })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
