import type { DepositMode, OrderType, QuoteKind } from '../../../protocol/src/quotes/quote.js'
import {
  listOf,
  messageReader,
  optional,
  type ReadBy,
  type Readers,
  readAddress,
  readBoolean,
  readEnum,
  readInteger,
  readNumber,
  readText,
  readUint256,
} from '../calls/answer-fields.js'
import type { Messages, UnknownText } from '../calls/message-types.js'

/** The outcome of a quote. A newer instance may have further ones. */
export type QuoteOutcome = NonNullable<Messages['GetQuoteRecordResponse']['outcome']> | UnknownText

/** The outcome of a request to one solver; the proto describes each. A newer instance may have further ones. */
export type SolverOutcome = Messages['SolverResult']['outcome'] | UnknownText

/** Why a solver declined on its session. A newer instance may have further codes. */
export type DeclineCode = NonNullable<Messages['SolverResult']['declineCode']> | UnknownText

/** The result of a request to one solver. A field that does not apply is undefined. */
export interface SolverResult extends ReadBy<typeof RESULT> {}
const RESULT = {
  solver: readAddress,
  outcome: readEnum<SolverOutcome>,
  /** Its place among the valid offers, 1 for the best one. */
  rank: optional(readInteger),
  durationMs: optional(readInteger),
  /** As the solver wrote it, in decimal digits; any number of them when the outcome is INVALID. */
  inputAmount: optional(readText),
  /** As the solver wrote it, in decimal digits; any number of them when the outcome is INVALID. */
  outputAmount: optional(readText),
  /** For INVALID and FAILED, a code of the instance's list of reasons. */
  reason: optional(readText),
  /** For DECLINED over HTTP, the status of the solver's answer. */
  httpStatus: optional(readInteger),
  /** For DECLINED on a session, the solver's reason. */
  declineCode: optional(readEnum<DeclineCode>),
  /** True when the settlement contract accepted the offer during the quote. */
  verified: optional(readBoolean),
  /** Why the round asked the solver: ALL, RANK or TURN. Also the next two: only in the solver's own results. */
  chosenBy: optional(readEnum<NonNullable<Messages['SolverResult']['chosenBy']>>),
  /** The median of its gaps in the pair, in basis points; undefined without a lesson. */
  gapBps: optional(readNumber),
  /** Whether a round that has offers waits for the solver. */
  isWaitedFor: optional(readBoolean),
  /** The outcome in words, for a person. */
  explanation: readText,
} satisfies Readers<'SolverResult'>

/** Reads the result of a solver. @throws UnreadableAnswer */
export const readSolverResult = messageReader(RESULT)

/** The parameters of a quote, with the deadlines that the instance sets. */
export interface QuoteRecordRequest extends ReadBy<typeof PARAMETERS> {}
const PARAMETERS = {
  inputToken: readAddress,
  outputToken: readAddress,
  orderType: readEnum<OrderType>,
  /** Amount of the fixed side: input for EXACT_INPUT, output for EXACT_OUTPUT. */
  amount: readUint256,
  userAddress: readAddress,
  destinationChainId: readInteger,
  depositMode: readEnum<DepositMode>,
  /** Unix time in seconds. */
  depositDeadline: readInteger,
  /** Unix time in seconds. */
  fillDeadline: readInteger,
  /** Earliest deposit deadline of an offer, Unix time in seconds; undefined when it must be `depositDeadline`. */
  minDepositDeadline: optional(readInteger),
} satisfies Readers<'QuoteParameters'>

/** Reads the parameters of a quote. @throws UnreadableAnswer */
export const readParameters = messageReader(PARAMETERS)

/** How a quote came about: everything for its caller, its own result for a solver. */
export interface QuoteRecord extends ReadBy<typeof RECORD> {}
const RECORD = {
  /** The id that the record was read by. */
  quoteId: readText,
  chainId: readInteger,
  /** Unix time in milliseconds. */
  requestedAt: readInteger,
  /** Until each solver had an outcome, in milliseconds; undefined for a solver. */
  durationMs: optional(readInteger),
  /** Undefined for a solver. */
  outcome: optional(readEnum<QuoteOutcome>),
  /** The parameters that the solvers got. */
  request: readParameters,
  /** The solvers that got a request: those with offers first, best first, then the others. For a solver, itself only. */
  solvers: listOf(readSolverResult),
  /** The best amount of the side that solvers compete on; undefined without an offer, and for a solver until the deposit deadline. */
  bestAmount: optional(readUint256),
  /** FIRM for a quote, INDICATIVE for a price. An instance without prices leaves it out. */
  kind: (kind: unknown) => readEnum<QuoteKind>(kind ?? 'FIRM'),
} satisfies Readers<'GetQuoteRecordResponse'>

/** Reads a record. @throws UnreadableAnswer */
export const readQuoteRecord = messageReader(RECORD)
