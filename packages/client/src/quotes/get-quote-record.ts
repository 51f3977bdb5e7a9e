import type { Address } from 'viem'
import type { DepositMode, OrderType, QuoteKind, QuoteRequest } from '../../../protocol/src/quotes/quote.js'
import {
  listOf,
  messageReader,
  optional,
  readAddress,
  readBoolean,
  readEnum,
  readFields,
  readInteger,
  readMessage,
  readNumber,
  readText,
  readUint256,
} from '../calls/answer-fields.js'
import type { Messages, UnknownText } from '../calls/message-types.js'

/** The outcome of a quote. A newer instance may have further ones. */
export type QuoteOutcome = NonNullable<Messages['GetQuoteRecordResponse']['outcome']> | UnknownText

/** The outcome of a request to one solver; the proto describes each. A newer instance may have further ones. */
export type SolverOutcome = Messages['SolverResult']['outcome'] | UnknownText

/** The result of a request to one solver. A field that does not apply is undefined. */
export interface SolverResult {
  readonly solver: Address
  readonly outcome: SolverOutcome
  /** Its place among the valid offers, 1 for the best one. */
  readonly rank: number | undefined
  readonly durationMs: number | undefined
  /** As the solver wrote it, in decimal digits; any number of them when the outcome is INVALID. */
  readonly inputAmount: string | undefined
  /** As the solver wrote it, in decimal digits; any number of them when the outcome is INVALID. */
  readonly outputAmount: string | undefined
  /** For INVALID and FAILED, a code of the instance's list of reasons. */
  readonly reason: string | undefined
  /** For DECLINED over HTTP, the status of the solver's answer. */
  readonly httpStatus: number | undefined
  /** For DECLINED on a session, the solver's reason. */
  readonly declineCode: DeclineCode | undefined
  /** True when the settlement contract accepted the offer during the quote. */
  readonly verified: boolean | undefined
  /** Why the round asked the solver: ALL, RANK or TURN. Also the next two: only in the solver's own results. */
  readonly chosenBy: NonNullable<Messages['SolverResult']['chosenBy']> | UnknownText | undefined
  /** The median of its gaps in the pair, in basis points; undefined without a lesson. */
  readonly gapBps: number | undefined
  /** Whether a round that has offers waits for the solver. */
  readonly isWaitedFor: boolean | undefined
  /** The outcome in words, for a person. */
  readonly explanation: string
}

/** Why a solver declined on its session. A newer instance may have further codes. */
export type DeclineCode = NonNullable<Messages['SolverResult']['declineCode']> | UnknownText

/** The parameters of a quote, with the deadlines that the instance sets. */
export interface QuoteRecordRequest
  extends Omit<QuoteRequest, 'kind' | 'chainId' | 'orderType' | 'depositMode'> {
  readonly orderType: OrderType | UnknownText
  readonly depositMode: DepositMode | UnknownText
}

/** How a quote came about: everything for its caller, its own result for a solver. */
export interface QuoteRecord {
  /** The id that the record was read by. */
  readonly quoteId: string
  readonly chainId: number
  /** Unix time in milliseconds. */
  readonly requestedAt: number
  /** Until each solver had an outcome, in milliseconds; undefined for a solver. */
  readonly durationMs: number | undefined
  /** Undefined for a solver. */
  readonly outcome: QuoteOutcome | undefined
  /** The parameters that the solvers got. */
  readonly request: QuoteRecordRequest
  /** The solvers that got a request: those with offers first, best first, then the others. For a solver, itself only. */
  readonly solvers: readonly SolverResult[]
  /** The best amount of the side that solvers compete on; undefined without an offer, and for a solver until the deposit deadline. */
  readonly bestAmount: bigint | undefined
  /** FIRM for a quote, INDICATIVE for a price. */
  readonly kind: QuoteKind | UnknownText
}

/** Reads the parameters of a quote. @throws UnreadableAnswer */
export function readParameters(answer: unknown): QuoteRecordRequest {
  const { userAddress, ...message } = readMessage<'QuoteParameters'>(answer)
  return readFields<QuoteRecordRequest>(
    { ...message, user: userAddress },
    {
      inputToken: readAddress,
      outputToken: readAddress,
      orderType: readEnum,
      amount: readUint256,
      user: readAddress,
      destinationChainId: readInteger,
      depositMode: readEnum,
      depositDeadline: readInteger,
      fillDeadline: readInteger,
    },
  )
}

/** Reads the result of a solver. @throws UnreadableAnswer */
export const readSolverResult = messageReader<'SolverResult', SolverResult>({
  solver: readAddress,
  outcome: readEnum,
  rank: optional(readInteger),
  durationMs: optional(readInteger),
  inputAmount: optional(readText),
  outputAmount: optional(readText),
  reason: optional(readText),
  httpStatus: optional(readInteger),
  declineCode: optional(readEnum),
  verified: optional(readBoolean),
  chosenBy: optional(readEnum),
  gapBps: optional(readNumber),
  isWaitedFor: optional(readBoolean),
  explanation: readText,
})

/** Reads a record. @throws UnreadableAnswer */
export const readQuoteRecord = messageReader<'GetQuoteRecordResponse', QuoteRecord>({
  quoteId: readText,
  chainId: readInteger,
  requestedAt: readInteger,
  durationMs: optional(readInteger),
  outcome: optional(readEnum),
  request: readParameters,
  solvers: listOf(readSolverResult),
  bestAmount: optional(readUint256),
  // An instance without prices leaves it out.
  kind: (kind) => readEnum(kind ?? 'FIRM'),
})
