import type { EnvironmentReader } from './environment.js'

/** Reads the URL of the PostgreSQL that replicas share; undefined without one. */
function readDatabaseUrl(env: EnvironmentReader): string | undefined {
  const text = env.optional('DATABASE_URL')
  const isPostgres = /^postgres(ql)?:$/.test(
    text !== undefined && URL.canParse(text) ? new URL(text).protocol : '',
  )
  // The URL has a password, so the message does not contain it.
  if (text !== undefined && !isPostgres)
    env.refuse('DATABASE_URL', 'must be a URL such as postgres://user:password@host:5432/database')
  return text
}

/** Location of the database: a PostgreSQL, or else a file. */
export interface DatabaseLocation {
  /** A file, or `:memory:`. */
  readonly dbPath: string
  /** URL of a PostgreSQL that replicas share; it replaces the file. */
  readonly databaseUrl: string | undefined
}

/** Reads the location of the database. */
export function readDatabaseLocation(env: EnvironmentReader): DatabaseLocation {
  return { dbPath: readDbPath(env), databaseUrl: readDatabaseUrl(env) }
}

/** Another path that begins with a colon is a misspelt `:memory:`. SQLite would create a file with this name. */
function readDbPath(env: EnvironmentReader): string {
  const path = env.required('DB_PATH', 'a file path or :memory:')
  if (path.startsWith(':') && path !== ':memory:')
    env.refuse('DB_PATH', `is "${path}": it must be a file path or :memory:`)
  const mustBe = 'it must be a file path or :memory:'
  // A URL may have a password, so the message does not contain it.
  if (/^postgres(ql)?:/i.test(path))
    env.refuse('DB_PATH', `is a URL of PostgreSQL: set DATABASE_URL to it, and remove DB_PATH`)
  else if (/^file:|^[a-z][a-z0-9+.-]*:\/\//i.test(path)) env.refuse('DB_PATH', `is a URL: ${mustBe}`)
  return path
}
