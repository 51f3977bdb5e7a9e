import type { Address } from 'viem'
import type { DepositMode, OrderType, QuoteKind, QuoteRequest } from '../../../src/domain/quotes/quote.js'
import {
  readAddress,
  readBoolean,
  readEnum,
  readInteger,
  readList,
  readMessage,
  readOptional,
  readText,
  readUint256,
} from './answer-fields.js'
import type { Messages, UnknownText } from './messages.js'

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

/** Reads a record. @throws UnreadableAnswer */
export function readQuoteRecord(answer: unknown): QuoteRecord {
  const message = readMessage<'GetQuoteRecordResponse'>(answer)
  return {
    quoteId: readText(message.quoteId),
    chainId: readInteger(message.chainId),
    requestedAt: readInteger(message.requestedAt),
    durationMs: readOptional(message.durationMs, readInteger),
    outcome: readOptional(message.outcome, readEnum),
    request: readParameters(message.request),
    solvers: readList(message.solvers).map(readSolverResult),
    bestAmount: readOptional(message.bestAmount, readUint256),
    // An instance without prices leaves it out.
    kind: readOptional(message.kind, readEnum) ?? 'FIRM',
  }
}

/** Reads the parameters of a quote. @throws UnreadableAnswer */
export function readParameters(answer: unknown): QuoteRecord['request'] {
  const request = readMessage<'QuoteParameters'>(answer)
  return {
    inputToken: readAddress(request.inputToken),
    outputToken: readAddress(request.outputToken),
    orderType: readEnum(request.orderType),
    amount: readUint256(request.amount),
    user: readAddress(request.userAddress),
    destinationChainId: readInteger(request.destinationChainId),
    depositMode: readEnum(request.depositMode),
    depositDeadline: readInteger(request.depositDeadline),
    fillDeadline: readInteger(request.fillDeadline),
  }
}

/** Reads the result of a solver. @throws UnreadableAnswer */
export function readSolverResult(answer: unknown): SolverResult {
  const message = readMessage<'SolverResult'>(answer)
  return {
    solver: readAddress(message.solver),
    outcome: readEnum(message.outcome),
    rank: readOptional(message.rank, readInteger),
    durationMs: readOptional(message.durationMs, readInteger),
    inputAmount: readOptional(message.inputAmount, readText),
    outputAmount: readOptional(message.outputAmount, readText),
    reason: readOptional(message.reason, readText),
    httpStatus: readOptional(message.httpStatus, readInteger),
    declineCode: readOptional(message.declineCode, readEnum),
    verified: readOptional(message.verified, readBoolean),
    explanation: readText(message.explanation),
  }
}
