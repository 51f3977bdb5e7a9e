import type { DatabaseLocation } from '../../config/database-url.js'
import type { OperatorStores } from './operator-stores.js'

/**
 * Opens the operator's stores of a service's database. It does not change the tables.
 * @throws ConfigError when there is no database, or another version wrote it; ServiceError DATABASE_UNAVAILABLE
 */
export async function openOperatorStores({ dbPath, databaseUrl }: DatabaseLocation): Promise<OperatorStores> {
  if (databaseUrl === undefined) {
    const { openOperatorFile } = await import('./operator-file.js')
    return openOperatorFile(dbPath)
  }
  const { openOperatorPostgres } = await import('./operator-postgres.js')
  return openOperatorPostgres(databaseUrl)
}
