import type { Logger } from '../telemetry/log.js'
import type { Stores } from './stores.js'

interface StoresOptions {
  /** A file, or `:memory:`. */
  readonly dbPath: string
  /** URL of the PostgreSQL that replicas share; undefined for a file. */
  readonly databaseUrl: string | undefined
  readonly rateLimitStore: 'memory' | 'postgres'
  /** Time for which records of quotes are kept; 0 keeps none. */
  readonly quoteRecordHours: number
  /** Most bytes of all records. */
  readonly quoteRecordMaxBytes: number
  /** The clock: Unix time in milliseconds. */
  readonly now: () => number
  readonly log: Logger
}

/**
 * Opens the database and migrates its tables. It loads only the code for the database in use.
 * @throws ConfigError when the database cannot be used, another service uses its file, or a newer version wrote it
 */
export async function openStores({ dbPath, databaseUrl, ...options }: StoresOptions): Promise<Stores> {
  if (databaseUrl === undefined) {
    const { openSqliteStores } = await import('./sqlite-stores.js')
    return openSqliteStores({ dbPath, ...options })
  }
  const { openPostgresStores } = await import('./postgres-stores.js')
  return openPostgresStores({ databaseUrl, ...options })
}
