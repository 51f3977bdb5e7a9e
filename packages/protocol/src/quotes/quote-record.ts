import type { DeclineCode, FailReason, Selection, SolverResult } from '../solvers/solver-result.js'
import type { Address } from '../values/hex.js'
import type { AnsweredAmounts, DropReason } from './offer.js'
import type { DepositMode, OrderType, QuoteKind } from './quote.js'
import type { ContractRefusal } from './verification.js'

/** The stored result of a request to one solver. Its selection is for the operator and for the solver itself. */
export interface RecordedResult extends AnsweredAmounts, Selection {
  readonly solver: Address
  /** Position of the request in the round, from 0; absent in results outside of a record. */
  readonly index?: number | undefined
  /** `circuit_open`: the quote did not wait for the solver. */
  readonly outcome: SolverResult['kind'] | 'circuit_open'
  /** Rank among the valid offers, 1 for the best one. */
  readonly rank?: number | undefined
  /** Milliseconds for which the solver had the request. */
  readonly durationMs?: number | undefined
  readonly reason?: DropReason | ContractRefusal | FailReason | 'replica_unreachable' | undefined
  /** The solver's answer, when it declined a request over HTTP. */
  readonly httpStatus?: number | undefined
  /** The solver's answer, when it declined a request on its session. */
  readonly declineCode?: DeclineCode | undefined
  /** Whether the settlement contract accepted the offer when it was asked; absent in all other cases. */
  readonly verified?: true | undefined
}

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
}
