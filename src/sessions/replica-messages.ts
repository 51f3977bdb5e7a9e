import type { QuoteKind } from '../domain/quotes/quote.js'
import type { SessionResult } from '../domain/solvers/solver-result.js'
import type { Address } from '../domain/values/hex.js'
import type { SolverReply, SolverRequestBody } from '../solvers/transport/solver-transports.js'

/** A solver that a relayed request is for. */
export interface RelayedSolver {
  readonly sessionId: string
  readonly address: Address
  /** The solver's id of the quote. */
  readonly id: string
}

/** The request of one round for sessions that another replica holds. */
export interface RelayedQuoteRequest {
  readonly type: 'quoteRequest'
  readonly solvers: readonly RelayedSolver[]
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

/** A line of the answer to a relayed quote request. */
export interface RelayedReply {
  /** The solver's id of the quote. */
  readonly id: string
  /** `late` when the solver did not answer in time. */
  readonly reply: SolverReply | { readonly kind: 'late' }
}
