import type { AnsweredAmounts, DropReason } from './offer.js'
import type { SignedQuote } from './quote.js'
import type { ContractRefusal } from './verification.js'

/** Why a request to a solver failed, or its reply could not be read. It does not reveal the solver's endpoint. */
export type FailReason =
  | 'endpoint_rejected'
  | 'name_not_resolved'
  | 'connection_refused'
  | 'unreachable'
  | 'tls_failed'
  | 'not_http'
  | 'reply_too_long'
  | 'connection_lost'

/** The result of the request to one solver. A failure is a value, so that it does not affect other solvers. */
export type SolverResult =
  | { readonly kind: 'quoted'; readonly offer: SignedQuote }
  /** The solver answered with another status than 200. */
  | { readonly kind: 'declined'; readonly status: number }
  /** The user cannot use the reply. */
  | {
      readonly kind: 'invalid'
      readonly reason: DropReason | ContractRefusal
      readonly amounts?: AnsweredAmounts | undefined
    }
  /** No reply came within the service's own timeout. */
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

/**
 * What the solver itself did, for its circuit breaker and its metrics (docs/decisions.md, D14).
 * @returns undefined without a response of the solver: it was late, or its request was cancelled
 */
export function responseOf(result: SolverResult): 'offer' | 'decline' | 'error' | undefined {
  switch (result.kind) {
    case 'quoted':
      return 'offer'
    case 'declined':
      return isDecline(result.status) ? 'decline' : 'error'
    case 'invalid':
    case 'failed':
      return 'error'
    case 'late':
    case 'cancelled':
      return undefined
  }
}
