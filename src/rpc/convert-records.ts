import type { MessageInitShape } from '@bufbuild/protobuf'
import {
  DepositMode,
  type GetQuoteRecordResponseSchema,
  OrderType,
  QuoteOutcome,
  type SolverAnswerSchema,
  SolverOutcome,
} from '../../gen/aggregator/v1/quote_pb.js'
import type { QuoteParameters, RecordedAttempt } from '../domain/quote-record.js'
import { explain } from '../quoting/explain.js'
import type { QuoteRecordView } from '../quoting/record-view.js'
import { toKnownChecksumAddress } from '../signing/checksum.js'

const QUOTE_OUTCOMES = {
  quoted: QuoteOutcome.QUOTED,
  no_quotes: QuoteOutcome.NO_QUOTES,
  cancelled: QuoteOutcome.CANCELLED,
} as const
const SOLVER_OUTCOMES = {
  quoted: SolverOutcome.QUOTED,
  refused: SolverOutcome.REFUSED,
  invalid: SolverOutcome.INVALID,
  late: SolverOutcome.LATE,
  failed: SolverOutcome.FAILED,
  cancelled: SolverOutcome.CANCELLED,
  benched: SolverOutcome.BENCHED,
} as const

/** What a reader sees of a record as messages have it, with each solver's outcome in words. */
export function toQuoteRecordMessage(
  record: QuoteRecordView,
): MessageInitShape<typeof GetQuoteRecordResponseSchema> {
  return {
    quoteId: record.quoteId,
    chainId: BigInt(record.chainId),
    requestedAt: BigInt(record.requestedAt),
    durationMs: record.durationMs,
    outcome: record.outcome && QUOTE_OUTCOMES[record.outcome],
    asked: toAskedMessage(record.asked),
    solvers: record.solvers.map((answer) => toAnswerMessage(answer, record)),
    bestAmount: record.bestAmount,
  }
}

function toAskedMessage({ user, ...asked }: QuoteParameters) {
  return {
    ...asked,
    inputToken: toKnownChecksumAddress(asked.inputToken),
    outputToken: toKnownChecksumAddress(asked.outputToken),
    orderType: OrderType[asked.orderType],
    userAddress: toKnownChecksumAddress(user),
    destinationChainId: BigInt(asked.destinationChainId),
    depositMode: DepositMode[asked.depositMode],
  }
}

function toAnswerMessage(
  { index, ...answer }: RecordedAttempt,
  record: QuoteRecordView,
): MessageInitShape<typeof SolverAnswerSchema> {
  return {
    ...answer,
    solver: toKnownChecksumAddress(answer.solver),
    outcome: SOLVER_OUTCOMES[answer.outcome],
    explanation: explain(answer, record),
  }
}
