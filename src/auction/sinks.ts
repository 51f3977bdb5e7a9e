import type { QuoteRequest, SignedQuote } from '../../packages/protocol/src/quotes/quote.js'
import type { QuoteRecord } from '../../packages/protocol/src/quotes/quote-record.js'
import type { Address } from '../../packages/protocol/src/values/hex.js'
import type { SolverAttempt } from './attempt.js'

/** Everyone who hears of rounds: metrics, statistics, records, the solvers on sessions, the memory of nonces, and the log. */
export type RoundSink = (event: RoundEvent) => void

/** What happens in rounds. */
export type RoundEvent =
  /** A valid offer came that the caller may get. */
  | { readonly kind: 'offer'; readonly request: QuoteRequest; readonly offer: SignedQuote }
  /** The caller gets the answer. */
  | ({ readonly kind: 'ended' } & EndedRound)
  /** A request has ended that the answer did not wait for. */
  | { readonly kind: 'cut_off_ended'; readonly attempt: SolverAttempt; readonly quoteIds: QuoteIdsOfSolvers }
  /** A request has ended that no quote waited for. */
  | {
      readonly kind: 'probed'
      readonly request: QuoteRequest
      readonly attempt: SolverAttempt
      readonly quoteIds: QuoteIdsOfSolvers
    }
  /** A round asked no solver: all connections were in use, it could not begin in time, or its caller had left before. */
  | { readonly kind: 'unstarted'; readonly request: QuoteRequest; readonly outcome: UnstartedOutcome }

export type UnstartedOutcome = 'busy' | 'overloaded' | 'cancelled'

/** Each solver's id of the quote, in the order of requests. */
export type QuoteIdsOfSolvers = ReadonlyMap<Address, string>

/** What happened in a quote. */
export interface EndedRound {
  readonly quoteId: string
  readonly request: QuoteRequest
  /** The label of the caller's API key. */
  readonly key?: string | undefined
  /** Unix time in milliseconds. */
  readonly requestedAt: number
  readonly durationMs: number
  /** Time from the best offer to the end; undefined without an offer. */
  readonly idleMs?: number | undefined
  readonly outcome: QuoteRecord['outcome']
  /** The valid offers, best first. */
  readonly ranked: readonly SignedQuote[]
  /** The requests to the solvers that the quote waited for, in the order of their results. */
  readonly attempts: readonly SolverAttempt[]
  /** The same, before the settlement contract has checked the offers. */
  readonly checked: readonly SolverAttempt[]
  /** The solvers that were asked, and for which the quote did not wait. */
  readonly probed: readonly Address[]
  readonly quoteIds: QuoteIdsOfSolvers
}

/** Tells all of them, in their order. */
export function tell(sinks: readonly RoundSink[], event: RoundEvent): void {
  for (const sink of sinks) sink(event)
}
