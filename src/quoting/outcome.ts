import type { AnsweredAmounts, DropReason } from '../domain/offer.js'
import type { SignedQuote } from '../domain/quote.js'
import type { FailReason } from '../domain/quote-record.js'

/** What came of asking one solver; a failure is a value, so that it reaches nobody else. */
export type SolverOutcome =
  | { readonly kind: 'quoted'; readonly offer: SignedQuote }
  /** The solver answered with another status than 200. */
  | { readonly kind: 'refused'; readonly status: number }
  /** The reply is worthless to the user. */
  | { readonly kind: 'invalid'; readonly reason: DropReason; readonly amounts?: AnsweredAmounts | undefined }
  /** No answer came in time. */
  | { readonly kind: 'late' }
  /** The solver could not be reached, or the connection broke, or the reply was too long. */
  | { readonly kind: 'failed'; readonly reason: FailReason; readonly message: string }
  /** The caller went away before the answer came. */
  | { readonly kind: 'cancelled' }
