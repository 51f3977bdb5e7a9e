import type { Logger } from '../telemetry/log.js'
import type { Stores } from './stores.js'

interface StoresOptions {
  /** A file, or `:memory:`. */
  readonly dbPath: string
  /** Of the PostgreSQL that replicas share; a file is used when undefined. */
  readonly databaseUrl: string | undefined
  readonly rateLimitStore: 'memory' | 'postgres'
  /** 0 keeps no records of quotes. */
  readonly quoteRecordHours: number
  /** Bounds their size. */
  readonly quoteRecordMaxBytes: number
  /** The clock: Unix time in milliseconds. */
  readonly now: () => number
  readonly log: Logger
}

/**
 * Opens the database, and brings its tables up to date. Only the code for the one that is used gets loaded.
 * @throws ConfigError when it cannot be used, another service uses its file, or a newer version wrote it
 */
export async function openStores({ dbPath, databaseUrl, ...options }: StoresOptions): Promise<Stores> {
  if (databaseUrl === undefined) {
    const { openSqliteStores } = await import('./sqlite-stores.js')
    return openSqliteStores({ dbPath, ...options })
  }
  const { openPostgresStores } = await import('./postgres-stores.js')
  return openPostgresStores({ databaseUrl, ...options })
}
