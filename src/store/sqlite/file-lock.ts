import { existsSync, realpathSync } from 'node:fs'
import { hostname } from 'node:os'
import { isSqliteError, openSqliteFile, type SqliteDatabase } from '../../../packages/sqlite/src/sqlite.js'
import { ConfigError } from '../../config/environment.js'
import { faultOf } from './file-health.js'
import { assertFolder, createForOwner, toConfigError } from './sqlite.js'
import { isBusy } from './sqlite-driver.js'

/** Lock of a database file that a second service cannot take. */
export interface FileLock {
  release(): void
}

interface Holder {
  readonly pid: number
  readonly host: string
  /** Unix time in milliseconds. */
  readonly since_ms: number
}

const CREATE = `create table if not exists holder
  (id integer primary key check (id = 1), pid integer not null, host text not null, since_ms integer not null)`
const READ = 'select pid, host, since_ms from holder'
const WRITE = 'insert or replace into holder (id, pid, host, since_ms) values (1, @pid, @host, @since_ms)'

/**
 * Takes the service's lock on a database file. It is SQLite's write lock on the file `<path>-lock`, so the operating
 * system releases it when the process ends in any way. Other programs can still use the database.
 * @param path the database; `:memory:` needs no lock
 * @throws ConfigError when another service holds the lock, or the file next to the database cannot be used
 */
export function takeFileLock(path: string, now: () => number): FileLock {
  if (path === ':memory:') return { release() {} }
  assertFolder(path)
  const lockPath = `${fileAt(path)}-lock`
  const self: Holder = { pid: process.pid, host: hostname(), since_ms: now() }
  const sqlite = open(lockPath)
  try {
    // The row must be committed, because others read it. Another service may get the lock in between, so check again.
    while (!holds(sqlite, self)) sqlite.transaction(() => sqlite.prepare(WRITE).run(self)).immediate()
    return { release: () => sqlite.close() }
  } catch (error) {
    const holder = isBusy(error) ? sqlite.prepare<[], Holder>(READ).get() : undefined
    sqlite.close()
    throw holder === undefined ? unusable(lockPath, error) : heldBy(path, holder)
  }
}

/** The file at a path after symbolic links, so that all services on it share its lock. */
function fileAt(path: string): string {
  // Creates the target of a link. If this fails, the error is reported when the database is opened.
  createForOwner(path)
  return existsSync(path) ? realpathSync(path) : path
}

/** Begins a transaction that holds the lock. @returns whether the row has this process; otherwise the lock is released */
function holds(sqlite: SqliteDatabase, self: Holder): boolean {
  sqlite.exec('begin immediate')
  const holder = sqlite.prepare<[], Holder>(READ).get()
  if (holder?.pid === self.pid && holder.host === self.host && holder.since_ms === self.since_ms) return true
  sqlite.exec('rollback')
  return false
}

function open(lockPath: string): SqliteDatabase {
  let sqlite: SqliteDatabase | undefined
  try {
    createForOwner(lockPath)
    sqlite = openSqliteFile(lockPath)
    // The content has no value after a power failure.
    sqlite.pragma('synchronous = OFF')
    sqlite.exec(CREATE)
    sqlite.pragma('busy_timeout = 0')
    return sqlite
  } catch (error) {
    sqlite?.close()
    throw unusable(lockPath, error)
  }
}

function heldBy(path: string, { pid, host, since_ms }: Holder): ConfigError {
  const since = new Date(since_ms).toISOString()
  const message = `is ${path}, which another service uses: process ${pid} on ${host}, since ${since}. Stop that service, or name another file`
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
