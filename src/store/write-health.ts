import type { Clock, Timer } from '../../packages/protocol/src/clock.js'
import { ServiceError } from '../../packages/protocol/src/errors.js'
import type { Logger } from '../telemetry/log.js'

/** A fault of a database, described for the operator. */
export interface Fault {
  /** What has happened, and what to do. */
  readonly text: string
  /** Whether the database stays unusable until the service is started again. */
  readonly isLasting: boolean
}

/** Whether a database takes writes. Each fault is logged once, with its cause and its remedy. */
export type WriteHealth = ReturnType<typeof createWriteHealth>

const PROBE_MS = 1000
/** A fault that occurs again within this time is the same one: on a full disk, small writes pass and large ones fail. */
const RETURN_MS = 60_000
/** Such a fault ends after this time without a failed write. Failed writes are tried again within 10 s. */
const CALM_MS = 30_000

/**
 * Builds the health of one database.
 * @param fields fields that identify the database in the log
 * @param downText the log messages at the beginning and at the end of a fault
 */
export function createWriteHealth(
  fields: object,
  downText: string,
  upText: string,
  clock: Clock,
  log: Logger,
) {
  let fault: Fault | undefined
  let failedAt = 0
  let recoveredAt = Number.NEGATIVE_INFINITY
  let hasReturned = false
  let probe: (() => Promise<unknown>) | undefined
  let timer: Timer | undefined
  let isClosed = false

  function probeSoon(): void {
    if (timer !== undefined || isClosed || fault === undefined || fault.isLasting) return
    timer = clock.setTimeout(async () => {
      // Its result is passed to `failed` or `written`, like that of every write.
      await probe?.().catch(() => {})
      timer = undefined
      probeSoon()
    }, PROBE_MS)
  }

  return {
    isUp: (): boolean => fault === undefined,

    /** Notes a fault. @param reason the database's own message */
    failed(found: Fault, reason: string): void {
      if (fault?.isLasting || probe === undefined) return
      failedAt = clock.monotonic()
      if (fault === undefined) hasReturned = failedAt - recoveredAt < RETURN_MS
      if (found !== fault) log.error({ ...fields, reason }, `${downText}: ${found.text}`)
      fault = found
      probeSoon()
    },

    /** Notes a successful write. */
    written(): void {
      if (fault === undefined || fault.isLasting) return
      const now = clock.monotonic()
      if (hasReturned && now - failedAt < CALM_MS) return
      fault = undefined
      recoveredAt = now
      log.info(fields, upText)
    },

    /**
     * Reports faults from now on.
     * @param probe a write that is tried every second during a fault, so that its end is noticed without traffic
     */
    start(write: () => Promise<unknown>): void {
      probe = write
    },

    close(): void {
      isClosed = true
      timer?.stop()
    },
  }
}

/**
 * Wraps a store, so that its methods throw ServiceError DATABASE_UNAVAILABLE when the database is the cause.
 * @param causeOf returns what is wrong with the database, for an operator; undefined when the statement itself failed
 * @returns the wrapped store, whose errors have that cause
 */
export function nameUnavailable<S extends object>(store: S, causeOf: (error: unknown) => unknown): S {
  const guarded = Object.entries(store).map(([name, method]) => [
    name,
    (...args: unknown[]) =>
      method(...args).catch((error: unknown) => {
        const cause = causeOf(error)
        throw cause === undefined ? error : databaseUnavailable(cause)
      }),
  ])
  return Object.fromEntries(guarded)
}

/** The error of a database that does not answer. @param cause for an operator */
export function databaseUnavailable(cause: unknown): ServiceError {
  const message = 'The database of this service does not answer at the moment: try again in some seconds.'
  return new ServiceError('DATABASE_UNAVAILABLE', message, { cause })
}
