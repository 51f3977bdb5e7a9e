import type { DatabaseLocation } from '../config/database-url.js'
import { ConfigError } from '../environment.js'
import { migrations } from './schema.js'
import type { SolverBarStore } from './solver-bars.js'

/** The bars of a database that a service may be using at the same time. */
export interface OpenSolverBars {
  readonly bars: SolverBarStore
  close(): Promise<void>
}

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

/**
 * Makes sure that a database has the tables of this version.
 * @param variable the one that names it
 * @param applied the names of its migrations
 * @throws ConfigError
 */
export function assertOwnVersion(variable: string, applied: readonly string[]): void {
  const newer = applied.filter((name) => migrations[name] === undefined)
  const refuse = (message: string) => new ConfigError([{ variable, message }])
  if (newer.length > 0)
    throw refuse(`names a database of a newer version, with ${newer.join(', ')}: use that version`)
  if (applied.length < Object.keys(migrations).length)
    throw refuse('names a database that this version has not opened yet: start the service once')
}
