import type { Logger } from '../telemetry/log.js'

/** What is wrong with a database, in a sentence for the operator. */
export interface Fault {
  /** What has happened, and what to do. */
  readonly text: string
  /** Whether the database stays unusable until the service is started again. */
  readonly isLasting: boolean
}

/** Whether a database takes writes. Each fault is logged once, with its cause and what to do. */
export interface WriteHealth {
  isUp(): boolean
  /** Takes a fault. @param reason the database's own words */
  failed(fault: Fault, reason: string): void
  /** Takes a write that was done. */
  written(): void
  /**
   * Reports faults from now on.
   * @param probe a write, tried every second during a fault: so its end is seen without traffic
   */
  start(probe: () => Promise<unknown>): void
  close(): void
}

interface WriteHealthOptions {
  /** Names the database in the log. */
  readonly fields: object
  /** What the log says before the fault, and at its end. */
  readonly downText: string
  readonly upText: string
  readonly log: Logger
}

const PROBE_MS = 1000
/** A fault that comes back so soon is the same one: on a full disk, small writes pass and large ones fail. */
const RETURN_MS = 60_000
/** Such a fault ends when no write has failed for so long: failed writes are tried again within 10 s. */
const CALM_MS = 30_000

/** Builds the health of one database. */
export function createWriteHealth({ fields, downText, upText, log }: WriteHealthOptions): WriteHealth {
  let fault: Fault | undefined
  let failedAt = 0
  let recoveredAt = Number.NEGATIVE_INFINITY
  let hasReturned = false
  let probe: (() => Promise<unknown>) | undefined
  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  function probeSoon(): void {
    if (timer !== undefined || isClosed || fault === undefined || fault.isLasting) return
    timer = setTimeout(async () => {
      // Its result comes to `failed` or `written`, as that of every write.
      await probe?.().catch(() => {})
      timer = undefined
      probeSoon()
    }, PROBE_MS)
  }

  return {
    isUp: () => fault === undefined,

    failed(found, reason) {
      if (fault?.isLasting || probe === undefined) return
      failedAt = performance.now()
      if (fault === undefined) hasReturned = failedAt - recoveredAt < RETURN_MS
      if (found !== fault) log.error({ ...fields, reason }, `${downText}: ${found.text}`)
      fault = found
      probeSoon()
    },

    written() {
      if (fault === undefined || fault.isLasting) return
      const now = performance.now()
      if (hasReturned && now - failedAt < CALM_MS) return
      fault = undefined
      recoveredAt = now
      log.info(fields, upText)
    },

    start(write) {
      probe = write
    },

    close() {
      isClosed = true
      clearTimeout(timer)
    },
  }
}
