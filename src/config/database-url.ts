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
  return { dbPath: env.required('DB_PATH', 'a file path or :memory:'), databaseUrl: readDatabaseUrl(env) }
}
