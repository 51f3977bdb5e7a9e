import type { RecordedResult } from '../solvers/solver-result.js'
import type { Address } from '../values/hex.js'
import type { DepositMode, OrderType, QuoteKind } from './quote.js'

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

/** The parameters of a request to solvers; deadlines in Unix seconds. */
export interface QuoteParameters {
  readonly inputToken: Address
  readonly outputToken: Address
  readonly orderType: OrderType
  readonly amount: string
  readonly user: Address
  readonly destinationChainId: number
  readonly depositMode: DepositMode
  readonly depositDeadline: number
  readonly fillDeadline: number
  /** As in a QuoteRequest. */
  readonly minDepositDeadline?: number | undefined
}
