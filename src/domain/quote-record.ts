import type { Address } from './hex.js'
import type { AnsweredAmounts, DropReason } from './offer.js'
import type { DepositMode, OrderType } from './quote.js'

/** Why a solver could not be asked, or its reply not be read. Says nothing of where the solver is. */
export type FailReason =
  | 'endpoint_rejected'
  | 'name_not_resolved'
  | 'connection_refused'
  | 'unreachable'
  | 'tls_failed'
  | 'not_http'
  | 'reply_too_long'
  | 'connection_lost'

/** What came of asking one solver, as it is kept. */
export interface RecordedAttempt extends AnsweredAmounts {
  readonly solver: Address
  /** Its place in the order of asking, from 0; absent in records of versions that did not keep it. */
  readonly index?: number | undefined
  readonly outcome: 'quoted' | 'declined' | 'invalid' | 'late' | 'failed' | 'cancelled' | 'circuit_open'
  /** Place among the valid offers, 1 for the best one. */
  readonly rank?: number | undefined
  /** Milliseconds from asking it to its outcome. */
  readonly durationMs?: number | undefined
  readonly reason?: DropReason | FailReason | undefined
  readonly httpStatus?: number | undefined
}

/** How one quote came about. It is plain JSON: amounts in the token's smallest unit are decimal strings. */
export interface QuoteRecord {
  /** A UUID. */
  readonly quoteId: string
  readonly chainId: number
  /** Unix time in milliseconds. */
  readonly requestedAt: number
  /** Milliseconds from the request until every solver had an outcome. */
  readonly durationMs: number
  readonly outcome: 'quoted' | 'no_quotes' | 'cancelled'
  readonly request: QuoteParameters
  /** The offers, best first, then who gave none. */
  readonly solvers: readonly RecordedAttempt[]
}

/** What solvers are asked for; deadlines in Unix seconds. */
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
}
