import type { Address } from 'viem'
import {
  type AskedSwap,
  DepositMode,
  type GetQuoteRecordResponse,
  OrderType,
  QuoteOutcome as QuoteOutcomeNumber,
  type SolverAnswer as SolverAnswerMessage,
  SolverOutcome as SolverOutcomeNumber,
} from '../../../gen/aggregator/v1/quote_pb.js'
import type { QuoteRequest } from '../../../src/domain/quote.js'
import { readAddress, readChoice, readInteger, readPresent, readUint256 } from './answer-fields.js'

const ORDER_TYPES = {
  [OrderType.EXACT_INPUT]: 'EXACT_INPUT',
  [OrderType.EXACT_OUTPUT]: 'EXACT_OUTPUT',
} as const
const DEPOSIT_MODES = { [DepositMode.CONTRACT]: 'CONTRACT', [DepositMode.ADDRESS]: 'ADDRESS' } as const
const QUOTE_OUTCOMES = {
  [QuoteOutcomeNumber.QUOTED]: 'QUOTED',
  [QuoteOutcomeNumber.NO_QUOTES]: 'NO_QUOTES',
  [QuoteOutcomeNumber.CANCELLED]: 'CANCELLED',
} as const
const SOLVER_OUTCOMES = {
  [SolverOutcomeNumber.QUOTED]: 'QUOTED',
  [SolverOutcomeNumber.REFUSED]: 'REFUSED',
  [SolverOutcomeNumber.INVALID]: 'INVALID',
  [SolverOutcomeNumber.LATE]: 'LATE',
  [SolverOutcomeNumber.FAILED]: 'FAILED',
  [SolverOutcomeNumber.CANCELLED]: 'CANCELLED',
  [SolverOutcomeNumber.BENCHED]: 'BENCHED',
} as const

/** What became of a quote. */
export type QuoteOutcome = (typeof QUOTE_OUTCOMES)[keyof typeof QUOTE_OUTCOMES]

/** What came of asking one solver; the proto says what each means. */
export type SolverOutcome = (typeof SOLVER_OUTCOMES)[keyof typeof SOLVER_OUTCOMES]

/** What came of asking one solver. What does not apply is undefined. */
export interface SolverAnswer {
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
  /** For REFUSED, the HTTP status that the solver answered with. */
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
  readonly asked: Omit<QuoteRequest, 'chainId'>
  /** Those that were asked: offers first, the best one at the top, then the others. For a solver, itself only. */
  readonly solvers: readonly SolverAnswer[]
  /** Of the side that solvers compete on; undefined without an offer, and for a solver until the deposit deadline is over. */
  readonly bestAmount: bigint | undefined
}

/** Reads a record. @throws AggregatorError ANSWER_INVALID */
export function readQuoteRecord(message: GetQuoteRecordResponse): QuoteRecord {
  return {
    quoteId: message.quoteId,
    chainId: readInteger(message.chainId),
    requestedAt: readInteger(message.requestedAt),
    durationMs: message.durationMs,
    outcome: message.outcome === undefined ? undefined : readChoice(QUOTE_OUTCOMES, message.outcome),
    asked: readAsked(readPresent(message.asked, 'what was asked')),
    solvers: message.solvers.map(readSolverAnswer),
    bestAmount: message.bestAmount === undefined ? undefined : readUint256(message.bestAmount),
  }
}

function readAsked(asked: AskedSwap): QuoteRecord['asked'] {
  return {
    inputToken: readAddress(asked.inputToken),
    outputToken: readAddress(asked.outputToken),
    orderType: readChoice(ORDER_TYPES, asked.orderType),
    amount: readUint256(asked.amount),
    user: readAddress(asked.userAddress),
    destinationChainId: readInteger(asked.destinationChainId),
    depositMode: readChoice(DEPOSIT_MODES, asked.depositMode),
    depositDeadline: asked.depositDeadline,
    fillDeadline: asked.fillDeadline,
  }
}

function readSolverAnswer(answer: SolverAnswerMessage): SolverAnswer {
  const { rank, durationMs, inputAmount, outputAmount, reason, httpStatus, explanation } = answer
  const solver = readAddress(answer.solver)
  const outcome = readChoice(SOLVER_OUTCOMES, answer.outcome)
  return { solver, outcome, rank, durationMs, inputAmount, outputAmount, reason, httpStatus, explanation }
}
