import type { EnvironmentReader } from '../environment.js'

/** Reads where the PostgreSQL is that replicas share; undefined when there is none. */
function readDatabaseUrl(env: EnvironmentReader): string | undefined {
  const text = env.optional('DATABASE_URL')
  const isPostgres = /^postgres(ql)?:$/.test(
    text !== undefined && URL.canParse(text) ? new URL(text).protocol : '',
  )
  // It has a password: nothing of it is told.
  if (text !== undefined && !isPostgres)
    env.refuse('DATABASE_URL', 'must be a URL such as postgres://user:password@host:5432/database')
  return text
}

/** Where what an instance keeps is: a PostgreSQL, or else a file. */
export interface DatabaseLocation {
  /** A file, or `:memory:`. */
  readonly dbPath: string
  /** Of a PostgreSQL that replicas share, in place of the file. */
  readonly databaseUrl: string | undefined
}

/** Reads where the database is. */
export function readDatabaseLocation(env: EnvironmentReader): DatabaseLocation {
  return { dbPath: readDbPath(env), databaseUrl: readDatabaseUrl(env) }
}

/** What begins with a colon and is not `:memory:` is that misspelt: SQLite would make a file of this name. */
function readDbPath(env: EnvironmentReader): string {
  const path = env.required('DB_PATH', 'a file path or :memory:')
  if (path.startsWith(':') && path !== ':memory:')
    env.refuse('DB_PATH', `is "${path}": it must be a file path or :memory:`)
  const mustBe = 'it must be a file path or :memory:'
  // A URL may have a password: nothing of it is shown.
  if (/^postgres(ql)?:/i.test(path))
    env.refuse('DB_PATH', `is a URL of PostgreSQL: set DATABASE_URL to it, and leave DB_PATH out`)
  else if (/^file:|^[a-z][a-z0-9+.-]*:\/\//i.test(path)) env.refuse('DB_PATH', `is a URL: ${mustBe}`)
  return path
}
