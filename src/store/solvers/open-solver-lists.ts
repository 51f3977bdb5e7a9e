import type { DatabaseLocation } from '../../config/database-url.js'
import type { OpenSolverLists } from './listed-solvers.js'

/**
 * Opens the lists of solvers of a service's database. It does not change the tables.
 * @throws ConfigError when there is no database, or another version wrote it; ServiceError DATABASE_UNAVAILABLE
 */
export async function openSolverLists({ dbPath, databaseUrl }: DatabaseLocation): Promise<OpenSolverLists> {
  if (databaseUrl === undefined) {
    const { openSolverListsFile } = await import('./solver-lists-file.js')
    return openSolverListsFile(dbPath)
  }
  const { openSharedSolverLists } = await import('./solver-lists-postgres.js')
  return openSharedSolverLists(databaseUrl)
}
