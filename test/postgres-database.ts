import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject, onTestFinished } from 'vitest'

/**
 * Makes an empty database in the tests' PostgreSQL, which is gone after the test.
 * @param whenFinished the test's own hook, for one that runs beside others
 * @returns its URL
 */
export async function createPostgresDatabase(whenFinished = onTestFinished): Promise<string> {
  const { url, drop } = await makeDatabase()
  whenFinished(drop)
  return url
}

/** As `createPostgresDatabase`, for whoever drops it by himself. */
export async function makeDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  const server = inject('postgresUrl')
  const name = `test_${randomBytes(8).toString('hex')}`
  const url = new URL(server)
  url.pathname = `/${name}`
  // Copying files takes half as long as the usual way, which writes them to the log as well.
  await run(server, `create database ${name} strategy file_copy`)
  // Whoever is still connected is cut off.
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
