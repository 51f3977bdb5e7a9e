import { AggregatorError, type ClientReason } from './errors.js'

/** What may be better the next time. */
const RETRYABLE: readonly ClientReason[] = [
  'CONNECTION_FAILED',
  'TIMED_OUT',
  'RATE_LIMITED',
  'SOLVERS_BUSY',
  'CHAIN_UNAVAILABLE',
  'DATABASE_UNAVAILABLE',
  'STREAM_LIMIT_REACHED',
  'SUBSCRIBER_TOO_SLOW',
  'SHUTTING_DOWN',
  'INTERNAL',
]
const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 30_000

/**
 * Whether the same call may succeed when it is repeated. `false` for all that is not an AggregatorError, and for NO_QUOTES:
 * the solvers have answered.
 */
export function isRetryable(error: unknown): boolean {
  return error instanceof AggregatorError && RETRYABLE.includes(error.reason)
}

/**
 * How long to wait before the next attempt, in milliseconds: twice as long after each failure in a row, up to half a minute,
 * and less by up to half at random, lest all clients come back together; never less than the instance asks for.
 * @param failures in a row, at least 1
 * @param random 0 to 1
 */
export function pauseMs(failures: number, error: AggregatorError, random: number): number {
  const longest = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1))
  return Math.max(longest * (1 - random / 2), (error.retryAfterSeconds ?? 0) * 1000)
}

/** Waits; not longer than until the signal. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal.addEventListener('abort', end)
  })
}
