import type { MessageInitShape } from '@bufbuild/protobuf'
import {
  DepositMode,
  type GetQuoteRecordResponseSchema,
  OrderType,
  QuoteOutcome,
  SolverOutcome,
  type SolverResultSchema,
} from '../../gen/aggregator/v1/quote_pb.js'
import type { QuoteParameters, RecordedAttempt } from '../domain/quote-record.js'
import { explain } from '../quoting/explain.js'
import type { QuoteRecordView } from '../quoting/record-view.js'
import { toCachedChecksumAddress } from '../signing/checksum.js'
import type { QuoteTypedData } from '../signing/typed-data.js'

const QUOTE_OUTCOMES = {
  quoted: QuoteOutcome.QUOTED,
  no_quotes: QuoteOutcome.NO_QUOTES,
  cancelled: QuoteOutcome.CANCELLED,
} as const
const SOLVER_OUTCOMES = {
  quoted: SolverOutcome.QUOTED,
  declined: SolverOutcome.DECLINED,
  invalid: SolverOutcome.INVALID,
  late: SolverOutcome.LATE,
  failed: SolverOutcome.FAILED,
  cancelled: SolverOutcome.CANCELLED,
  circuit_open: SolverOutcome.CIRCUIT_OPEN,
} as const

/**
 * The message of a record as its reader may see it, with each solver's outcome in words.
 * @param typedData what solvers sign on the chain; undefined while the chain has not been read
 */
export function toQuoteRecordMessage(
  record: QuoteRecordView,
  typedData: QuoteTypedData | undefined,
): MessageInitShape<typeof GetQuoteRecordResponseSchema> {
  return {
    quoteId: record.quoteId,
    chainId: BigInt(record.chainId),
    requestedAt: BigInt(record.requestedAt),
    durationMs: record.durationMs,
    outcome: record.outcome && QUOTE_OUTCOMES[record.outcome],
    request: toParametersMessage(record.request),
    solvers: record.solvers.map((attempt) => toResultMessage(attempt, { ...record, typedData })),
    bestAmount: record.bestAmount,
  }
}

function toParametersMessage({ user, ...request }: QuoteParameters) {
  return {
    ...request,
    inputToken: toCachedChecksumAddress(request.inputToken),
    outputToken: toCachedChecksumAddress(request.outputToken),
    orderType: OrderType[request.orderType],
    userAddress: toCachedChecksumAddress(user),
    destinationChainId: BigInt(request.destinationChainId),
    depositMode: DepositMode[request.depositMode],
  }
}

function toResultMessage(
  { index, ...attempt }: RecordedAttempt,
  record: Parameters<typeof explain>[1],
): MessageInitShape<typeof SolverResultSchema> {
  return {
    ...attempt,
    solver: toCachedChecksumAddress(attempt.solver),
    outcome: SOLVER_OUTCOMES[attempt.outcome],
    explanation: explain(attempt, record),
  }
}
