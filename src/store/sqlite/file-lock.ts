import { existsSync, realpathSync } from 'node:fs'
import { isSqliteError, openSqliteFile, type SqliteDatabase } from '../../../packages/sqlite/src/sqlite.js'
import { ConfigError } from '../../config/environment.js'
import { faultOf } from './file-health.js'
import { assertFolder, createForOwner, toConfigError } from './sqlite.js'
import { isBusy } from './sqlite-driver.js'

/** Lock of a database file that a second service cannot take. */
interface FileLock {
  release(): void
}

/**
 * Takes the service's lock on a database file. It is SQLite's lock on the empty file `<path>-lock`, so the operating system
 * releases it when the process ends in any way. Other programs can still use the database.
 * @param path the database; `:memory:` needs no lock
 * @throws ConfigError when another service holds the lock, or the file next to the database cannot be used
 */
export function takeFileLock(path: string): FileLock {
  if (path === ':memory:') return { release() {} }
  assertFolder(path)
  const lockPath = `${fileAt(path)}-lock`
  let sqlite: SqliteDatabase | undefined
  try {
    createForOwner(lockPath)
    const opened = openSqliteFile(lockPath)
    sqlite = opened
    opened.pragma('busy_timeout = 0')
    opened.exec('begin exclusive')
    return { release: () => opened.close() }
  } catch (error) {
    sqlite?.close()
    throw isBusy(error) ? held(path) : unusable(lockPath, error)
  }
}

/** The file at a path after symbolic links, so that all services on it share its lock. */
function fileAt(path: string): string {
  // Creates the target of a link. If this fails, the error is reported when the database is opened.
  createForOwner(path)
  return existsSync(path) ? realpathSync(path) : path
}

function held(path: string): ConfigError {
  const message = `is ${path}, which another service uses: stop that service, or name another file`
  return new ConfigError([{ variable: 'DB_PATH', message }])
}

/** @returns an error with the remedy, or the same error if the file is not its cause */
function unusable(lockPath: string, error: unknown): unknown {
  // Such as a package that was installed for another version of Node.
  if (!isSqliteError(error)) return toConfigError(lockPath, error)
  const fault = faultOf(error)
  const remedy = fault === undefined || fault.isLasting ? 'delete it while no service uses it' : fault.text
  const message = `needs the file ${lockPath}, which cannot be used: ${remedy} (${error.message})`
  return new ConfigError([{ variable: 'DB_PATH', message }])
}
