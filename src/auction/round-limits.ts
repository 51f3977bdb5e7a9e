import type { VerifyMode } from '../../packages/protocol/src/quotes/verification.js'
import type { CallContext } from '../clients/call.js'
import type { SoftDeadline } from './round.js'

/**
 * The part of a caller's deadline that is reserved for the way of the request and of its response; at most a fifth of the deadline. The
 * caller's time begins before the request arrives. A round trip between continents takes that long, and so does a busy machine.
 */
const TRANSPORT_RESERVE_MS = 250
/**
 * The longest part of a caller's deadline that is reserved for the checks of the settlement contract. Without it, one solver that
 * is silent would leave no time for them.
 */
const VERIFICATION_PART = 1 / 4

interface RoundLimits {
  readonly quoteTimeoutMs: number
  /** VERIFY_TIMEOUT_MS. */
  readonly verifyTimeoutMs: number
}

/**
 * The longest time of a round for this caller in milliseconds: the quote timeout, or the caller's shorter deadline, less the time in
 * which the settlement contract checks the offers.
 */
export function roundLimitMs(
  { timeoutMs }: Pick<CallContext, 'timeoutMs'>,
  verify: VerifyMode,
  { quoteTimeoutMs, verifyTimeoutMs }: RoundLimits,
): number {
  const limit = callersLimitMs(timeoutMs)
  const reserve = verify === 'off' ? 0 : Math.min(verifyTimeoutMs, limit * VERIFICATION_PART)
  return Math.min(quoteTimeoutMs, limit - reserve)
}

/** The caller's own deadline less the time for the way to it, in milliseconds; infinite without a deadline. */
export function callersLimitMs(timeoutMs: number | undefined): number {
  if (timeoutMs === undefined) return Number.POSITIVE_INFINITY
  return timeoutMs - Math.min(TRANSPORT_RESERVE_MS, timeoutMs / 5)
}

/** The soft deadline of QUOTE_SOFT_TIMEOUT_MS; undefined when it is 0. */
export function ownSoftDeadline(afterMs: number, minQuotes = 1): SoftDeadline | undefined {
  return afterMs === 0 ? undefined : { afterMs, minQuotes, isOwn: true }
}
