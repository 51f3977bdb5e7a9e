import type { RecordedResult } from '../solvers/solver-result.js'
import type { QuoteKind, QuoteRequest } from './quote.js'

/** How the service obtained one quote, as plain JSON: amounts in the token's smallest unit are decimal strings. */
export interface QuoteRecord {
  /** A UUID. */
  readonly quoteId: string
  readonly chainId: number
  /** Unix time in milliseconds. */
  readonly requestedAt: number
  /** Milliseconds from the request until every solver had an outcome. */
  readonly durationMs: number
  readonly outcome: 'quoted' | 'no_quotes' | 'cancelled'
  readonly kind: QuoteKind
  /** The label of the caller's API key, for the operator. */
  readonly key?: string | undefined
  readonly request: QuoteParameters
  /** The offers, best first, then the solvers without an offer. */
  readonly solvers: readonly RecordedResult[]
}

/** What a record says of the request to solvers, as plain JSON. */
export interface QuoteParameters extends Omit<QuoteRequest, 'kind' | 'chainId' | 'amount'> {
  /** Decimal. */
  readonly amount: string
}
