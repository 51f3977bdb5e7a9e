import type { QuoteRecord, RecordedResult } from '../domain/quote-record.js'

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
  readonly bestAmount?: string | undefined
}

/** The view of the caller: everything. */
export function viewForCaller(record: QuoteRecord): QuoteRecordView {
  return { ...record, bestAmount: bestAmountOf(record) }
}

/**
 * The view of one solver: the request, its own result and rank, and after the deposit deadline the best amount.
 * @param id the solver's own id of this quote
 * @param index the solver's index in the order of requests
 * @param now Unix time in milliseconds
 * @returns undefined when no solver of the record has this index
 */
export function viewForSolver(
  record: QuoteRecord,
  { id, index, now }: { readonly id: string; readonly index: number; readonly now: number },
): QuoteRecordView | undefined {
  const own = record.solvers.find((attempt) => attempt.index === index)
  if (own === undefined) return undefined
  const { chainId, requestedAt, request, kind } = record
  // A deposit is still possible in the second of the deadline.
  const isOver = Math.floor(now / 1000) > request.depositDeadline
  const bestAmount = isOver ? bestAmountOf(record) : undefined
  return { quoteId: id, chainId, requestedAt, request, kind, solvers: [own], bestAmount }
}

function bestAmountOf({ request, solvers }: QuoteRecord): string | undefined {
  const best = solvers.find(({ rank }) => rank === 1)
  return request.orderType === 'EXACT_INPUT' ? best?.outputAmount : best?.inputAmount
}
