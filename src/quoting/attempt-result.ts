import type { AnsweredAmounts, DropReason } from '../domain/offer.js'
import type { SignedQuote } from '../domain/quote.js'
import type { FailReason } from '../domain/quote-record.js'

/** What came of asking one solver; a failure is a value, so that it reaches nobody else. */
export type AttemptResult =
  | { readonly kind: 'quoted'; readonly offer: SignedQuote }
  /** The solver answered with another status than 200. */
  | { readonly kind: 'declined'; readonly status: number }
  /** The reply is worthless to the user. */
  | { readonly kind: 'invalid'; readonly reason: DropReason; readonly amounts?: AnsweredAmounts | undefined }
  /** No answer came in time. */
  | { readonly kind: 'late' }
  /** The solver could not be reached, or the connection broke, or the reply was too long. */
  | { readonly kind: 'failed'; readonly reason: FailReason; readonly message: string }
  /** The caller's deadline or departure cut it off, or the quote ended while it waited for a connection here. */
  | { readonly kind: 'cancelled'; readonly isQueued?: boolean }

/** Statuses by which deployed solvers decline, besides those below 500 (docs/decisions.md, D14). */
const DECLINE_STATUSES = [501, 503]

/** Whether an answer of this status is a redirect, which the service does not follow. */
export function isRedirect(status: number): boolean {
  return status >= 300 && status < 400
}

/** Whether an answer of this status says no, and is not the solver's error. */
export function isDecline(status: number): boolean {
  return status < 500 || DECLINE_STATUSES.includes(status)
}
