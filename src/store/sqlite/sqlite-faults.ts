import SQLite from 'better-sqlite3'
import type { Fault } from '../write-health.js'

/** The file is no longer at its path. Writes would go to a file without a name. */
export class FileGoneError extends Error {
  override readonly name = 'FileGoneError'
}

/** The file system does not say whether the file is at its path. */
export class FileUnreachableError extends Error {
  override readonly name = 'FileUnreachableError'
}

/** SQLite would apply what these files have to the file that is restored. */
const WITHOUT_WAL = 'delete -wal and -shm next to it'
const RESTORE = `restore it from a backup and ${WITHOUT_WAL}, or move all three away to start without its data`
const GONE: Fault = {
  text: `the file was deleted or replaced while the service runs: stop the service, restore the file, ${WITHOUT_WAL}, start again`,
  isLasting: false,
}
const UNREACHABLE: Fault = {
  text: "the file cannot be opened: create its folder, and give it to the service's user",
  isLasting: false,
}
/** Faults by the beginning of SQLite's code. */
const FAULTS: readonly [RegExp, Fault][] = [
  // The second code: the file `-shm` cannot grow, because the disk may be full (sqlite.org/rescode.html).
  [/^SQLITE_(FULL|IOERR_SHMSIZE)/, { text: 'the disk is full: make room', isLasting: false }],
  [/^SQLITE_(CORRUPT|NOTADB)/, { text: `the file is damaged: ${RESTORE}`, isLasting: true }],
  [
    /^SQLITE_(BUSY|LOCKED)/,
    { text: 'another process has held its lock for more than 5 s: end that process', isLasting: false },
  ],
  [
    /^SQLITE_(READONLY|PERM|AUTH)/,
    { text: "the file cannot be written: give it to the service's user", isLasting: false },
  ],
  [/^SQLITE_CANTOPEN/, UNREACHABLE],
  [/^SQLITE_(IOERR|PROTOCOL)/, { text: 'the disk does not work: check the disk', isLasting: false }],
]

/** @returns the fault of the file that caused an error; undefined when the statement itself failed */
export function faultOf(error: unknown): Fault | undefined {
  if (error instanceof FileGoneError) return GONE
  if (error instanceof FileUnreachableError) return UNREACHABLE
  const code = error instanceof SQLite.SqliteError ? error.code : ''
  return FAULTS.find(([pattern]) => pattern.test(code))?.[1]
}

/** @returns an error that says what is wrong with the file; undefined when the statement itself failed */
export function faultErrorOf(error: unknown): Error | undefined {
  const fault = faultOf(error)
  return fault && new Error(`${fault.text} (${(error as Error).message})`, { cause: error })
}
