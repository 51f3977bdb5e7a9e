import { statSync } from 'node:fs'
import type { Logger } from '../../telemetry/log.js'
import { createWriteHealth } from '../write-health.js'
import type { FileWatch } from './sqlite-driver.js'
import { FileGoneError, FileUnreachableError, faultOf } from './sqlite-faults.js'

/** Whether a database file can be used. */
export interface FileHealth extends FileWatch {
  isUp(): boolean
  /** Reports faults from now on. @param probe a write, as for WriteHealth */
  start(probe: () => Promise<unknown>): void
  close(): void
}

/** Builds the health of the file at a path; `:memory:` has no file. */
export function createFileHealth(path: string, log: Logger): FileHealth {
  const health = createWriteHealth({
    fields: { path },
    downText: 'the database file cannot be used',
    upText: 'the database file can be used again',
    log,
  })
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
    isUp() {
      try {
        assertUsable()
      } catch {
        return false
      }
      return health.isUp()
    },
    start(write) {
      health.start(write)
      assertUsable()
    },
    close: health.close,
  }
}
