/**
 * A kit with which a market maker writes a solver: it connects to an aggregator, signs quotes, follows deposits and fills.
 *
 * Amounts are `bigint` in the token's smallest unit, times in quotes Unix seconds.
 */

export { AggregatorError } from '../../client/src/calls/aggregator-error.js'
export type { OrderType, Quote, QuoteKind } from '../../protocol/src/quotes/quote.js'
export type { DeclineCode } from '../../protocol/src/solvers/solver-result.js'
export { createSolver, type Solver } from './create-solver.js'
export type { SolverMetrics } from './monitoring.js'
export type {
  DepositedOrder,
  FilledOrder,
  MinedTransaction,
  MissedOrder,
  OrderTerms,
  QuotedOrder,
  ShortOrder,
  SolverQuote,
} from './orders/order-terms.js'
export type { EndpointAnswer, EndpointRequest } from './quoting/endpoint.js'
export { decline } from './quoting/quoting.js'
export type { Exposure, TokenExposure } from './risk/exposure.js'
export type { CancelledQuote } from './risk/quote-ledger.js'
export { SessionError } from './session/session-connection.js'
export type { AnswerResult, SessionResult } from './session/session-messages.js'
export type {
  ChainOptions,
  QuoteAnswer,
  SessionChange,
  SolverAccount,
  SolverLog,
  SolverOptions,
  SolverQuoteRequest,
} from './solver-options.js'
