import { createRequire } from 'node:module'
import type SQLite from 'better-sqlite3'

export type SqliteDatabase = SQLite.Database

/** The Node-API that better-sqlite3 13 is built for. With an older one, it ends the process. */
const NODE_API = 10
/**
 * better-sqlite3 12 is compiled for one version of Node. On Node 24 it aborts the process in a garbage collection, so that only a Node
 * that cannot run 13 has it, which is Node 20.
 */
const PACKAGE = Number(process.versions.napi) < NODE_API ? 'better-sqlite3-node20' : 'better-sqlite3'
const require = createRequire(import.meta.url)

/** Loads the package of SQLite that this Node runs. @throws Error with the remedy when it is not installed */
export function loadSqlite(): typeof SQLite {
  try {
    return require(PACKAGE)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error
    const message = `${PACKAGE}, the SQLite of Node ${process.versions.node}, is not installed: install Python, make, a C++ compiler and then the packages again, or use Node 22 or 24`
    throw new SqliteMissingError(message, { cause: error })
  }
}

/** Opens a database. @param path a file, or `:memory:` @throws SqliteMissingError, or SQLite's error */
export function openSqliteFile(path: string, options?: SQLite.Options): SqliteDatabase {
  return new (loadSqlite())(path, options)
}

/** No package of SQLite is installed that this Node runs. */
export class SqliteMissingError extends Error {
  override readonly name = 'SqliteMissingError'
}

/** Whether SQLite itself reports an error, by its code. */
export function isSqliteError(error: unknown): error is InstanceType<(typeof SQLite)['SqliteError']> {
  return error instanceof Error && error.name === 'SqliteError'
}
