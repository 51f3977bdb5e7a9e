import type { EnvironmentReader } from '../environment.js'

/** Reads where the PostgreSQL is that replicas share; undefined when there is none. */
export function readDatabaseUrl(env: EnvironmentReader): string | undefined {
  const text = env.optional('DATABASE_URL')
  const isPostgres = /^postgres(ql)?:$/.test(
    text !== undefined && URL.canParse(text) ? new URL(text).protocol : '',
  )
  // It has a password: nothing of it is told.
  if (text !== undefined && !isPostgres)
    env.refuse('DATABASE_URL', 'must be a URL such as postgres://user:password@host:5432/database')
  return text
}
