import type { Address } from 'viem'
import { ORDER_TYPES, type QuoteRequest } from '../../../src/domain/quote.js'
import {
  readAddress,
  readChoice,
  readInteger,
  readList,
  readMessage,
  readOptional,
  readText,
  readUint256,
} from './answer-fields.js'
import type { Messages } from './messages.js'

/** What became of a quote. */
export type QuoteOutcome = NonNullable<Messages['GetQuoteRecordResponse']['outcome']>

/** What came of asking one solver; the proto says what each means. */
export type SolverOutcome = Messages['SolverResult']['outcome']

/** Every value, so that a new one does not compile until it is here. */
const QUOTE_OUTCOMES = namesOf<QuoteOutcome>({ QUOTED: true, NO_QUOTES: true, CANCELLED: true })
const SOLVER_OUTCOMES = namesOf<SolverOutcome>({
  QUOTED: true,
  DECLINED: true,
  INVALID: true,
  LATE: true,
  FAILED: true,
  CANCELLED: true,
  CIRCUIT_OPEN: true,
})
const DEPOSIT_MODES = namesOf<QuoteRequest['depositMode']>({ CONTRACT: true, ADDRESS: true })

/** What came of asking one solver. What does not apply is undefined. */
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
  /** For INVALID and FAILED, which of the instance's closed list of reasons it was. */
  readonly reason: string | undefined
  /** For DECLINED, the HTTP status that the solver answered with. */
  readonly httpStatus: number | undefined
  /** The outcome in words, for a person. */
  readonly explanation: string
}

/** How a quote came about: all of it for the caller, for a solver its own result. */
export interface QuoteRecord {
  /** The id by which it was read. */
  readonly quoteId: string
  readonly chainId: number
  /** Unix time in milliseconds. */
  readonly requestedAt: number
  /** Until every asked solver had an outcome, in milliseconds; undefined for a solver. */
  readonly durationMs: number | undefined
  /** Undefined for a solver. */
  readonly outcome: QuoteOutcome | undefined
  /** What the solvers were asked. */
  readonly request: Omit<QuoteRequest, 'chainId'>
  /** Those that were asked: offers first, the best one at the top, then the others. For a solver, itself only. */
  readonly solvers: readonly SolverResult[]
  /** Of the side that solvers compete on; undefined without an offer, and for a solver until the deposit deadline is over. */
  readonly bestAmount: bigint | undefined
}

/** Reads a record. @throws AggregatorError ANSWER_INVALID */
export function readQuoteRecord(answer: unknown): QuoteRecord {
  const message = readMessage<'GetQuoteRecordResponse'>(answer)
  return {
    quoteId: readText(message.quoteId),
    chainId: readInteger(message.chainId),
    requestedAt: readInteger(message.requestedAt),
    durationMs: readOptional(message.durationMs, readInteger),
    outcome: readOptional(message.outcome, (value) => readChoice(QUOTE_OUTCOMES, value)),
    request: readParameters(message.request),
    solvers: readList(message.solvers).map(readSolverResult),
    bestAmount: readOptional(message.bestAmount, readUint256),
  }
}

function readParameters(answer: unknown): QuoteRecord['request'] {
  const request = readMessage<'QuoteParameters'>(answer)
  return {
    inputToken: readAddress(request.inputToken),
    outputToken: readAddress(request.outputToken),
    orderType: readChoice(ORDER_TYPES, request.orderType),
    amount: readUint256(request.amount),
    user: readAddress(request.userAddress),
    destinationChainId: readInteger(request.destinationChainId),
    depositMode: readChoice(DEPOSIT_MODES, request.depositMode),
    depositDeadline: readInteger(request.depositDeadline),
    fillDeadline: readInteger(request.fillDeadline),
  }
}

function readSolverResult(answer: unknown): SolverResult {
  const message = readMessage<'SolverResult'>(answer)
  return {
    solver: readAddress(message.solver),
    outcome: readChoice(SOLVER_OUTCOMES, message.outcome),
    rank: readOptional(message.rank, readInteger),
    durationMs: readOptional(message.durationMs, readInteger),
    inputAmount: readOptional(message.inputAmount, readText),
    outputAmount: readOptional(message.outputAmount, readText),
    reason: readOptional(message.reason, readText),
    httpStatus: readOptional(message.httpStatus, readInteger),
    explanation: readText(message.explanation),
  }
}

function namesOf<T extends string>(names: Readonly<Record<T, true>>): readonly T[] {
  return Object.keys(names) as T[]
}
