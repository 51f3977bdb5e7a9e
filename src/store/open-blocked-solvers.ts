import type { DatabaseLocation } from '../config/database-url.js'
import type { OpenBlockedSolvers } from './blocked-solvers.js'

/**
 * Opens the blocked solvers of a service's database. It does not change the tables.
 * @throws ConfigError when there is no database, or another version wrote it; ServiceError DATABASE_UNAVAILABLE
 */
export async function openBlockedSolvers({
  dbPath,
  databaseUrl,
}: DatabaseLocation): Promise<OpenBlockedSolvers> {
  if (databaseUrl === undefined) {
    const { openBlockedSolversFile } = await import('./blocked-solvers-file.js')
    return openBlockedSolversFile(dbPath)
  }
  const { openSharedBlockedSolvers } = await import('./blocked-solvers-postgres.js')
  return openSharedBlockedSolvers(databaseUrl)
}
