import type { Clock } from '../../../src/clock.js'
import { RpcError } from './rpc-error.js'

const FIRST_MS = 1000
const LONGEST_BACKOFF_MS = 8000
const LONGEST_MS = 60_000

/** The pause after a node has refused calls because of its limits. */
export interface Pause {
  /** @throws RpcError of kind `refused` while it lasts */
  assertOver(): void
  /** Begins a pause, longer after each one until a call is answered; or lengthens it to what the node asks for. */
  begin(retryAfterMs?: number): void
  /** Notes that a call was answered. */
  answered(): void
}

export function createPause(clock: Pick<Clock, 'monotonic'>): Pause {
  let until = Number.NEGATIVE_INFINITY
  let backoffMs = FIRST_MS
  return {
    assertOver() {
      const leftMs = until - clock.monotonic()
      if (leftMs <= 0) return
      const message = `the node has refused calls: none is sent for ${Math.ceil(leftMs / 1000)} s`
      throw new RpcError('refused', message, { isRateLimit: true })
    },
    begin(retryAfterMs = 0) {
      const now = clock.monotonic()
      const isOver = until <= now
      until = Math.max(until, now + retryAfterMs, isOver ? now + backoffMs : now)
      if (isOver) backoffMs = Math.min(backoffMs * 2, LONGEST_BACKOFF_MS)
    },
    answered() {
      backoffMs = FIRST_MS
    },
  }
}

/** Statuses whose `Retry-After` is a request to wait (RFC 6585, section 4; RFC 9110, section 15.6.4). */
const BUSY: readonly number[] = [429, 503]

/**
 * The error for a status of HTTP that is no success.
 * @param retryAfter the value of `Retry-After` (RFC 9110, section 10.2.3): a number of seconds, or an HTTP date
 * @param nowMs Unix time in milliseconds
 * @param words what the node says of it, in one line
 */
export function refusalOf(
  status: number,
  retryAfter: string | undefined,
  nowMs: number,
  words = '',
): RpcError {
  const isRedirect = status >= 300 && status < 400
  const what = isRedirect ? 'redirects are not followed' : words
  const message = `the node answers with status ${status}${what && `: ${what}`}`
  const isRateLimit = BUSY.includes(status)
  const retryAfterMs = isRateLimit ? retryAfterMsOf(retryAfter, nowMs) : undefined
  return new RpcError('refused', message, { status, isRateLimit, ...(retryAfterMs && { retryAfterMs }) })
}

/** @returns at most a minute; undefined for a value that is absent or malformed */
function retryAfterMsOf(value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined) return undefined
  const wanted = /^\d+$/.test(value.trim()) ? Number(value) * 1000 : Date.parse(value) - nowMs
  return Number.isNaN(wanted) ? undefined : Math.min(LONGEST_MS, Math.max(0, wanted))
}
