import { statSync } from 'node:fs'
import type { Clock } from '../../../packages/protocol/src/clock.js'
import { isSqliteError, SqliteMissingError } from '../../../packages/sqlite/src/sqlite.js'
import type { Logger } from '../../telemetry/log.js'
import { createWriteHealth, type Fault } from '../write-health.js'

/** Whether a database file can be used. */
export type FileHealth = ReturnType<typeof createFileHealth>

/** Builds the health of the file at a path; `:memory:` has no file. */
export function createFileHealth(path: string, clock: Clock, log: Logger) {
  const health = createWriteHealth(
    { path },
    'the database file cannot be used',
    'the database file can be used again',
    clock,
    log,
  )
  /** Inode of the file when it was opened. */
  let inode: number | undefined

  function assertUsable(): void {
    if (path === ':memory:') return
    const found = readInode()
    inode ??= found
    if (found !== inode) fail(new FileGoneError(`${path} is no longer the file that was opened`))
  }

  /** @returns undefined when there is no file */
  function readInode(): number | undefined {
    try {
      return statSync(path, { throwIfNoEntry: false })?.ino
    } catch (error) {
      return fail(new FileUnreachableError((error as Error).message, { cause: error }))
    }
  }

  function fail(error: Error): never {
    onFailed(error)
    throw error
  }

  function onFailed(error: unknown): void {
    const fault = faultOf(error)
    if (fault !== undefined) health.failed(fault, (error as Error).message)
  }

  return {
    assertUsable,
    onFailed,
    onWritten: health.written,
    isUp(): boolean {
      try {
        assertUsable()
      } catch {
        return false
      }
      return health.isUp()
    },
    /** Reports faults from now on. @param probe a write, as for WriteHealth */
    start(write: () => Promise<unknown>): void {
      health.start(write)
      assertUsable()
    },
    close: health.close,
  }
}

/** The file is no longer at its path. Writes would go to a file without a name. */
class FileGoneError extends Error {
  override readonly name = 'FileGoneError'
}

/** The file system does not say whether the file is at its path. */
class FileUnreachableError extends Error {
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
  const code = isSqliteError(error) ? error.code : ''
  return FAULTS.find(([pattern]) => pattern.test(code))?.[1]
}

/** @returns an error that says what is wrong with the file or with SQLite; undefined when the statement itself failed */
export function faultErrorOf(error: unknown): Error | undefined {
  if (error instanceof SqliteMissingError) return error
  const fault = faultOf(error)
  return fault && new Error(`${fault.text} (${(error as Error).message})`, { cause: error })
}
