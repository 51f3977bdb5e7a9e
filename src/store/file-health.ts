import { statSync } from 'node:fs'
import type { Logger } from '../telemetry/log.js'
import type { FileWatch } from './sqlite-driver.js'
import { type FileFault, FileGoneError, faultOf } from './sqlite-faults.js'

/** Whether a database file can be used. Each fault is logged once, with its cause and what to do. */
export interface FileHealth extends FileWatch {
  isUp(): boolean
  /**
   * Reports faults from now on.
   * @param probe a write, tried every second while the file cannot be used: so its recovery is seen without traffic
   */
  start(probe: () => Promise<unknown>): void
  close(): void
}

const PROBE_MS = 1000

/** Builds the health of the file at a path; `:memory:` names none. */
export function createFileHealth(path: string, log: Logger): FileHealth {
  let fault: FileFault | undefined
  let probe: (() => Promise<unknown>) | undefined
  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  /** Of the file when it was opened. */
  let inode: number | undefined

  function assertUsable(): void {
    if (path === ':memory:') return
    const found = statSync(path, { throwIfNoEntry: false })?.ino
    inode ??= found
    if (found === inode) return
    const error = new FileGoneError(`${path} is no longer the file that was opened`)
    onFailed(error)
    throw error
  }

  function onFailed(error: unknown): void {
    const found = faultOf(error)
    if (found === undefined || fault?.isLasting || probe === undefined) return
    if (found !== fault) {
      const reason = (error as Error).message
      log.error({ path, reason }, `the database file cannot be used: ${found.text}`)
    }
    fault = found
    probeSoon()
  }

  function probeSoon(): void {
    if (timer !== undefined || isClosed || fault === undefined || fault.isLasting) return
    timer = setTimeout(async () => {
      // What comes of it is seen here, as of every write.
      await probe?.().catch(() => {})
      timer = undefined
      probeSoon()
    }, PROBE_MS)
  }

  return {
    assertUsable,
    onFailed,
    onWritten() {
      if (fault === undefined || fault.isLasting) return
      fault = undefined
      log.info({ path }, 'the database file can be used again')
    },
    isUp() {
      try {
        assertUsable()
      } catch {
        return false
      }
      return fault === undefined
    },
    start(write) {
      probe = write
      assertUsable()
    },
    close() {
      isClosed = true
      clearTimeout(timer)
    },
  }
}
