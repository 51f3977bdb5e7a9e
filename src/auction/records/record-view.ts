import { competedSide, gapOf } from '../../../packages/protocol/src/quotes/offer.js'
import type { QuoteRecord } from '../../../packages/protocol/src/quotes/quote-record.js'
import type { RecordedResult } from '../../../packages/protocol/src/solvers/solver-result.js'

/** What a reader may see of a record (docs/decisions.md, D15). */
export interface QuoteRecordView
  extends Pick<QuoteRecord, 'quoteId' | 'chainId' | 'requestedAt' | 'request' | 'kind'> {
  /** For the caller only. */
  readonly durationMs?: number | undefined
  /** For the caller only. */
  readonly outcome?: QuoteRecord['outcome'] | undefined
  /** All of them for the caller; for a solver, its own. */
  readonly solvers: readonly RecordedResult[]
  /**
   * The best offer's amount on the side that solvers compete on, in decimal. A solver sees it only after the deposit
   * deadline. Undefined without an offer.
   */
  readonly bestAmount: string | undefined
}

/** The view of the caller: everything. */
export function viewForCaller(record: QuoteRecord): QuoteRecordView {
  return { ...record, bestAmount: bestAmountOf(record) }
}

/**
 * The view of one solver: the request, its own result and rank, and after the deposit deadline the best amount.
 * @param own the solver's result
 * @param quoteId the solver's own id of this quote
 * @param now Unix time in milliseconds
 */
export function viewForSolver(
  record: QuoteRecord,
  own: RecordedResult,
  quoteId: string,
  now: number,
): QuoteRecordView {
  const { chainId, requestedAt, request, kind } = record
  // A deposit is still possible in the second of the deadline.
  const isOver = Math.floor(now / 1000) > request.depositDeadline
  const bestAmount = isOver ? bestAmountOf(record) : undefined
  return { quoteId, chainId, requestedAt, request, kind, solvers: [own], bestAmount }
}

/** How much worse the offer of a view of one solver was than the best one, in basis points of that; undefined without both. */
export function distanceOf({
  request: { orderType },
  solvers,
  bestAmount,
}: QuoteRecordView): number | undefined {
  const [own] = solvers
  const amount = own?.[competedSide(orderType)]
  if (own?.rank === undefined || amount === undefined || bestAmount === undefined) return undefined
  return gapOf(orderType, BigInt(amount), BigInt(bestAmount))
}

function bestAmountOf({ request, solvers }: QuoteRecord): string | undefined {
  return solvers.find(({ rank }) => rank === 1)?.[competedSide(request.orderType)]
}
