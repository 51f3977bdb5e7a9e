import type { MessageInitShape } from '@bufbuild/protobuf'
import {
  ChosenBy,
  DeclineCode,
  DepositMode,
  type GetQuoteRecordResponseSchema,
  OrderType,
  QuoteKind,
  QuoteOutcome,
  SolverOutcome,
  type SolverResultSchema,
} from '../../../gen/aggregator/v1/quote_pb.js'
import { explain } from '../../../packages/protocol/src/quotes/explain.js'
import type { QuoteTypedData } from '../../../packages/protocol/src/settlement/settlement.js'
import { toRequestBody } from '../../../packages/protocol/src/signing/quote-request.js'
import { toCachedChecksumAddress } from '../../../packages/protocol/src/signing/typed-data.js'
import type { RecordedResult } from '../../../packages/protocol/src/solvers/solver-result.js'
import type { QuoteRecordView } from '../../auction/records/record-view.js'
import { toUpperCase } from './enum-words.js'

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
    outcome: record.outcome && QuoteOutcome[toUpperCase(record.outcome)],
    request: toParametersMessage({ ...record.request, chainId: record.chainId }),
    // Why a solver was asked is shown in its signed own results only (docs/decisions.md, D30).
    solvers: record.solvers.map(({ chosenBy, gapBps, isWaitedFor, ...result }) =>
      toResultMessage(result, { ...record, typedData }),
    ),
    bestAmount: record.bestAmount,
    kind: QuoteKind[record.kind],
  }
}

/** The message of a request to solvers. */
export function toParametersMessage(request: Parameters<typeof toRequestBody>[0]) {
  const { chainId: _, ...body } = toRequestBody(request)
  return {
    ...body,
    orderType: OrderType[body.orderType],
    destinationChainId: BigInt(body.destinationChainId),
    depositMode: DepositMode[body.depositMode],
  }
}

/** The message of a result, with its outcome in words. */
export function toResultMessage(
  { index, declineCode, chosenBy, ...result }: RecordedResult,
  record: Parameters<typeof explain>[1],
): MessageInitShape<typeof SolverResultSchema> {
  return {
    ...result,
    solver: toCachedChecksumAddress(result.solver),
    outcome: SolverOutcome[toUpperCase(result.outcome)],
    declineCode: declineCode && DeclineCode[declineCode],
    chosenBy: chosenBy && ChosenBy[chosenBy],
    explanation: explain({ declineCode, ...result }, record),
  }
}
