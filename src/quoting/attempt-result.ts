import type { AnsweredAmounts, DropReason } from '../domain/offer.js'
import type { SignedQuote } from '../domain/quote.js'
import type { FailReason } from '../domain/quote-record.js'

/** The result of the request to one solver. A failure is a value, so that it does not affect other solvers. */
export type AttemptResult =
  | { readonly kind: 'quoted'; readonly offer: SignedQuote }
  /** The solver answered with another status than 200. */
  | { readonly kind: 'declined'; readonly status: number }
  /** The user cannot use the reply. */
  | { readonly kind: 'invalid'; readonly reason: DropReason; readonly amounts?: AnsweredAmounts | undefined }
  /** No reply came in time. */
  | { readonly kind: 'late' }
  /** The service could not reach the solver, or the connection broke, or the reply was too long. */
  | { readonly kind: 'failed'; readonly reason: FailReason; readonly message: string }
  /** The caller cancelled it or had a shorter deadline, or the quote ended while the request waited for a connection. */
  | { readonly kind: 'cancelled'; readonly isQueued?: boolean }

/** Statuses with which deployed solvers decline, in addition to those below 500 (docs/decisions.md, D14). */
const DECLINE_STATUSES = [501, 503]

/** Whether an answer of this status is a redirect, which the service does not follow. */
export function isRedirect(status: number): boolean {
  return status >= 300 && status < 400
}

/** Whether a solver declines with this status. Otherwise the status is an error of the solver. */
export function isDecline(status: number): boolean {
  return status < 500 || DECLINE_STATUSES.includes(status)
}
