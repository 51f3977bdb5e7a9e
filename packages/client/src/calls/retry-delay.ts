import { AggregatorError, type ClientReason, mayPass } from './aggregator-error.js'

/**
 * What may be over at the next attempt. Of the reasons of the service, these are those with the RPC codes `unavailable`,
 * `resource_exhausted` and `internal` (packages/protocol/src/errors.ts), but those of sessions, which the client has not.
 */
const PASSING: readonly string[] = [
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
] satisfies ClientReason[]
const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 30_000
/** An instance that asks for more is asked again before. */
const LONGEST_ASKED_MS = 5 * 60_000
/** The longest wait of a timer in browsers and Node, 24 days. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1

/**
 * Whether the same call may succeed when it is repeated. A reason that this version of the client does not know counts by its
 * HTTP status. `false` for all that is not an AggregatorError, and for NO_QUOTES: the solvers have answered.
 */
export function isRetryable(error: unknown): boolean {
  if (!(error instanceof AggregatorError)) return false
  const { reason, httpStatus } = error
  return PASSING.includes(reason) || (mayPass(httpStatus) && reason !== 'NO_QUOTES')
}

/**
 * How long to wait before the next attempt, in milliseconds: up to 0.5 s at first and twice as long after each further
 * failure, up to 30 s, and never less than `retryAfterSeconds` of the error, of which at most five minutes
 * count. It fits `retryDelay` of TanStack Query.
 * @param failures the failures before this one, in a row: 0 at the first
 */
export function retryDelay(failures: number, error: Error): number {
  return pauseMs(failures, error, Math.random())
}

/**
 * `retryDelay` with its random part, which spreads the attempts of many clients.
 * @param random 0 to 1: half of the pause at 1
 */
export function pauseMs(failures: number, error: unknown, random: number): number {
  const longest = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures)
  const asked = error instanceof AggregatorError ? (error.retryAfterSeconds ?? 0) * 1000 : 0
  return Math.max(longest * (1 - random / 2), Math.min(LONGEST_ASKED_MS, asked))
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
