import { copyFile, rm } from 'node:fs/promises'
import pg from 'pg'
import { inject, onTestFinished } from 'vitest'
import { makeDatabase } from './postgres-database.js'
import { databases } from './service-databases.js'

/** A database that can be saved and restored. */
export interface RestorableDatabase {
  /** The variable that names it. */
  readonly environment: Record<string, string>
  /** Saves its state. Nothing may be connected to it. */
  backUp(): Promise<void>
  /** Restores the saved state. Nothing may be connected to it. */
  restore(): Promise<void>
}

async function makeFile(): Promise<RestorableDatabase> {
  const [[, make]] = databases as [(typeof databases)[0]]
  const { environment, drop } = await make()
  onTestFinished(drop)
  const path = environment.DB_PATH ?? ''
  return {
    environment,
    backUp: () => copyFile(path, `${path}.backup`),
    async restore() {
      for (const rest of ['-wal', '-shm']) await rm(`${path}${rest}`, { force: true })
      await copyFile(`${path}.backup`, path)
    },
  }
}

/**
 * PostgreSQL waits some seconds until the connections to a database have ended before it copies or renames
 * it.
 */
export async function makeRestorablePostgres(): Promise<RestorableDatabase & { readonly url: string }> {
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
    environment: { DATABASE_URL: url },
    backUp: () => run(`create database ${name}_backup template ${name} strategy file_copy`),
    restore: () =>
      run(`drop database ${name} with (force)`, `alter database ${name}_backup rename to ${name}`),
  }
}

/** One of each kind, for `it.each`. */
export const restorableDatabases: [kind: string, make: () => Promise<RestorableDatabase>][] = [
  ['SQLite', makeFile],
  ['PostgreSQL', makeRestorablePostgres],
]
