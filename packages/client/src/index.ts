/**
 * The client of an aggregator, for Node 20 and browsers: quotes, orders and events; the checks of a user; the calls and
 * messages of a wallet.
 *
 * Amounts are `bigint` in the token's smallest unit, addresses in EIP-55 form, hashes in lower-case hex.
 */
export type { FieldViolation, Reason } from '../../protocol/src/errors.js'
export { ChainReadError, type ReadFailure } from '../../protocol/src/node/chain-read-error.js'
export type {
  DepositMode,
  OrderType,
  Quote,
  QuoteKind,
  SignedQuote,
} from '../../protocol/src/quotes/quote.js'
export type { VerifyMode } from '../../protocol/src/quotes/verification.js'
export type { StatsWindow } from '../../protocol/src/solvers/solver-statistics.js'
export type { Chain, ChainStatus, Token } from './chains.js'
export {
  type AggregatorClient,
  type AggregatorClientOptions,
  createAggregatorClient,
} from './client.js'
export { type Call, depositCalls, depositTransfer } from './deposit.js'
export { DepositError, type DepositReason } from './deposit-outcome.js'
export { AggregatorError, type ClientReason } from './errors.js'
export type { EventFilter } from './event-filter.js'
export type {
  Deposited,
  OrderEvent,
  OrderEventType,
  Refunded,
  Reverted,
  Settled,
} from './events.js'
export { explainForUser } from './explain-for-user.js'
export type { Opening, StreamOptions } from './follow-events.js'
export type { CallOptions } from './http.js'
export type { UnknownText } from './messages.js'
export { type IdentifyOffer, identifyOffers, type OfferIdentity } from './offer-identity.js'
export type { KnownOrder, ListedOrder, Order, OrderState, OrderStep, OrderSteps } from './order.js'
export type { ListOrdersParams, OrderPage } from './orders.js'
export {
  type OwnResult,
  type OwnResultPage,
  type OwnResultsParams,
  type OwnResultsTerms,
  type SignedOwnResults,
  signOwnResults,
} from './own-results.js'
export type { Price, PriceAnswer } from './price.js'
export { type JsonValue, queryKey } from './query-key.js'
export type { PriceParams, QuoteAnswer, QuoteParams } from './quote.js'
export type {
  DeclineCode,
  QuoteOutcome,
  QuoteRecord,
  QuoteRecordRequest,
  SolverOutcome,
  SolverResult,
} from './quote-record.js'
export type {
  QuoteRoundEnd,
  QuoteStreamMessage,
  QuoteStreamOptions,
  QuoteStreamParams,
  QuoteUpdate,
} from './quote-stream.js'
export { isRefundable, refundCall, refundTransfer } from './refund.js'
export {
  type MessageSigner,
  type RegistrationTerms,
  type SignedRegistration,
  type SignedUnregistration,
  signRegistration,
  signUnregistration,
  type UnregistrationTerms,
} from './registration.js'
export { isRetryable, retryDelay } from './retry.js'
export {
  type DepositProgress,
  type DepositWallet,
  type SendDepositOptions,
  sendDeposit,
} from './send-deposit.js'
export { type InstanceTrust, readSettlement, type SettlementTerms } from './settlement.js'
export type {
  SolverCounts,
  SolverHour,
  SolverState,
  SolverStats,
  SolverStatsByHour,
  SolverStatsParams,
} from './solver-stats.js'
export type { ListedSolver, RegisteredSolver, RegistrationCheck } from './solvers.js'
export type { ListedPair, ListedToken } from './tokens.js'
export {
  type QuoteProblem,
  QuoteVerificationError,
  type VerifyQuoteOptions,
  verifyQuote,
} from './verify-quote.js'
export type { WaitForOrderOptions } from './wait-for-order.js'
export type { WatchOrderOptions } from './watch-order.js'
export { type QuoteOffers, type WatchQuotesOptions, watchQuotes } from './watch-quotes.js'
