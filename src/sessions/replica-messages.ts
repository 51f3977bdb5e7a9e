import type { Address } from '../domain/hex.js'
import type { QuoteKind } from '../domain/quote.js'
import type { SessionResult } from '../domain/solver-result.js'
import type { SolverRequestBody } from '../solvers/request-body.js'
import type { SolverReply } from '../solvers/solver-client.js'

/** A quote request for a session that another replica holds. */
export interface RelayedQuoteRequest {
  readonly type: 'quoteRequest'
  readonly sessionId: string
  readonly solver: Address
  /** The solver's id of the quote. */
  readonly id: string
  readonly kind: QuoteKind
  /** As in `SolverRequest`. */
  readonly deadline: number
  readonly traceparent?: string | undefined
  /** Milliseconds for which the asking replica waits. The clocks of two replicas may differ. */
  readonly waitMs: number
  readonly body: SolverRequestBody
}

/** The result of a relayed request. */
export interface RelayedResult {
  readonly sessionId: string
  readonly id: string
  readonly result: SessionResult
}

/** The body of a request between replicas (docs/decisions.md, D18). */
export type ReplicaMessage =
  | RelayedQuoteRequest
  | { readonly type: 'results'; readonly results: readonly RelayedResult[] }
  | { readonly type: 'ping'; readonly id: string }

/** The answer to a relayed quote request; `late` when the solver did not answer in time. */
export type RelayedReply = SolverReply | { readonly kind: 'late' }
