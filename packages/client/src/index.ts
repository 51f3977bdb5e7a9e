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
export { AggregatorError, type ClientReason } from './calls/aggregator-error.js'
export type { UnknownText } from './calls/message-types.js'
export type { CallOptions } from './calls/rest-calls.js'
export { isRetryable, retryDelay } from './calls/retry-delay.js'
export type { Chain, ChainStatus, Token } from './chains/list-chains.js'
export type { ListedPair, ListedToken } from './chains/list-tokens.js'
export { readToken } from './chains/read-token.js'
export {
  type AggregatorClient,
  type AggregatorClientOptions,
  createAggregatorClient,
} from './client.js'
export { type Call, depositCalls, depositTransfer } from './deposits/deposit-calls.js'
export { DepositError, type DepositReason } from './deposits/deposit-outcome.js'
export { type DepositProgress, isDepositBegun } from './deposits/deposit-progress.js'
export { readOnePrompt } from './deposits/one-prompt.js'
export {
  type NoRefund,
  type PreparedRefund,
  prepareRefund,
} from './deposits/prepare-refund.js'
export { refundCall } from './deposits/refund-calls.js'
export { type SendDepositOptions, sendDeposit } from './deposits/send-deposit.js'
export { isDeclined } from './deposits/wallet-refusal.js'
export type { DepositWallet } from './deposits/wallet-transaction.js'
export type { EventFilter } from './events/event-filter.js'
export type { Opening, StreamOptions } from './events/follow-events.js'
export type {
  Deposited,
  OrderEvent,
  OrderEventType,
  Refunded,
  Reverted,
  Settled,
} from './events/order-events.js'
export { explainForUser } from './explain-for-user.js'
export type { OfferCheck } from './offers/check-offer.js'
export { type IdentifyOffer, identifyOffers, type OfferIdentity } from './offers/offer-identity.js'
export { limitsOf, type OfferLimits } from './offers/offer-limits.js'
export { type InstanceTrust, readSettlement, type SettlementTerms } from './offers/settlement-terms.js'
export {
  type QuoteProblem,
  QuoteVerificationError,
  type VerifyQuoteOptions,
  verifyQuote,
} from './offers/verify-quote.js'
export type { ListOrdersParams, OrderPage } from './orders/list-orders.js'
export type {
  KnownOrder,
  ListedOrder,
  Order,
  OrderState,
  OrderStep,
  OrderSteps,
} from './orders/read-order.js'
export { readOrderState } from './orders/read-order-state.js'
export type { WaitForOrderOptions } from './orders/wait-for-order.js'
export type { WatchOrderOptions } from './orders/watch-order.js'
export { queryKey } from './query-key.js'
export type { Price, PriceAnswer } from './quotes/get-price.js'
export type { PriceParams, QuoteAnswer, QuoteParams } from './quotes/get-quote.js'
export type {
  DeclineCode,
  QuoteOutcome,
  QuoteRecord,
  QuoteRecordRequest,
  SolverOutcome,
  SolverResult,
} from './quotes/get-quote-record.js'
export type {
  QuoteRoundEnd,
  QuoteStreamMessage,
  QuoteStreamOptions,
  QuoteStreamParams,
  QuoteUpdate,
} from './quotes/stream-quotes.js'
export { type QuoteOffers, type WatchQuotesOptions, watchQuotes } from './quotes/watch-quotes.js'
export {
  type OwnResult,
  type OwnResultPage,
  type OwnResultsParams,
  type OwnResultsTerms,
  type SignedOwnResults,
  signOwnResults,
} from './solvers/list-own-results.js'
export type {
  SolverCounts,
  SolverHour,
  SolverState,
  SolverStats,
  SolverStatsByHour,
  SolverStatsParams,
} from './solvers/list-solver-stats.js'
export type { ListedSolver, RegisteredSolver, RegistrationCheck } from './solvers/list-solvers.js'
export {
  type MessageSigner,
  type RegistrationTerms,
  type SignedRegistration,
  type SignedUnregistration,
  signRegistration,
  signUnregistration,
  type UnregistrationTerms,
} from './solvers/sign-registration.js'
