import pg from 'pg'
import { inject, onTestFinished } from 'vitest'
import { makeDatabase } from './postgres-database.js'

/** A database that can be saved and restored. */
interface RestorableDatabase {
  readonly url: string
  /** Saves its state. Nothing may be connected to it. */
  backUp(): Promise<void>
  /** Restores the saved state. Nothing may be connected to it. */
  restore(): Promise<void>
}

/**
 * PostgreSQL waits some seconds until the connections to a database have ended before it copies or renames
 * it.
 */
export async function makeRestorablePostgres(): Promise<RestorableDatabase> {
  const { url, drop } = await makeDatabase()
  onTestFinished(drop)
  const name = new URL(url).pathname.slice(1)
  async function run(...statements: readonly string[]): Promise<void> {
    const client = new pg.Client({ connectionString: inject('postgresUrl') })
    await client.connect()
    try {
      for (const statement of statements) await client.query(statement)
    } finally {
      await client.end()
    }
  }
  return {
    url,
    backUp: () => run(`create database ${name}_backup template ${name} strategy file_copy`),
    restore: () =>
      run(`drop database ${name} with (force)`, `alter database ${name}_backup rename to ${name}`),
  }
}
