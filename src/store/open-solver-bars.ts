import type { DatabaseLocation } from '../config/database-url.js'
import type { OpenSolverBars } from './solver-bars.js'

/**
 * Opens the bars of a database that a service has made. Its tables are left as they are.
 * @throws ConfigError when there is none, or another version wrote it; ServiceError DATABASE_UNAVAILABLE
 */
export async function openSolverBars({ dbPath, databaseUrl }: DatabaseLocation): Promise<OpenSolverBars> {
  if (databaseUrl === undefined) {
    const { openSolverBarsFile } = await import('./solver-bars-file.js')
    return openSolverBarsFile(dbPath)
  }
  const { openSharedSolverBars } = await import('./solver-bars-postgres.js')
  return openSharedSolverBars(databaseUrl)
}
