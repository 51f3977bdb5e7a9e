import { gapOf } from '../../../packages/protocol/src/quotes/offer.js'
import type { QuoteRecord } from '../../../packages/protocol/src/quotes/quote-record.js'
import type { RecordedResult } from '../../../packages/protocol/src/solvers/solver-result.js'
import type { Address } from '../../../packages/protocol/src/values/hex.js'
import type { QuoteIds } from '../quote-ids.js'

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
  return { ...record, solvers: record.solvers.map(withoutSelection), bestAmount: bestAmountOf(record) }
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
  return {
    quoteId: id,
    chainId,
    requestedAt,
    request,
    kind,
    solvers: [withoutSelection(own)],
    bestAmount: finalBestAmountOf(record, now),
  }
}

/** Why a solver was asked is shown in its signed own results only (docs/decisions.md, D30). */
function withoutSelection({ chosenBy: _by, gapBps: _gap, isWaitedFor: _wait, ...result }: RecordedResult) {
  return result
}

/** What a solver may see of one of its results: of the others, nothing but its rank before the deposit deadline. */
export interface OwnResult extends Pick<QuoteRecord, 'requestedAt' | 'request' | 'kind'> {
  /** The solver's own id of the quote; undefined without its index. */
  readonly quoteId: string | undefined
  readonly result: RecordedResult
  /** As in QuoteRecordView. */
  readonly bestAmount: string | undefined
  /** How much worse its offer was than the best one, in basis points of that; undefined without both. */
  readonly distanceBps: number | undefined
}

/**
 * The result of one solver by its address.
 * @param now Unix time in milliseconds
 * @returns undefined when the record has no result of the solver
 */
export function resultForSolver(
  record: QuoteRecord,
  solver: Address,
  { quoteIds, now }: { readonly quoteIds: Pick<QuoteIds, 'forSolvers'>; readonly now: number },
): OwnResult | undefined {
  const own = record.solvers.find((attempt) => attempt.solver === solver)
  if (own === undefined) return undefined
  const { requestedAt, request, kind } = record
  const { index } = own
  const quoteId = index === undefined ? undefined : quoteIds.forSolvers(record.quoteId, index + 1)[index]
  const bestAmount = finalBestAmountOf(record, now)
  return {
    quoteId,
    requestedAt,
    request,
    kind,
    result: own,
    bestAmount,
    distanceBps: distanceOf(own, request, bestAmount),
  }
}

function distanceOf(
  { rank, inputAmount, outputAmount }: RecordedResult,
  { orderType }: QuoteRecord['request'],
  bestAmount: string | undefined,
): number | undefined {
  const amount = orderType === 'EXACT_INPUT' ? outputAmount : inputAmount
  if (rank === undefined || amount === undefined || bestAmount === undefined) return undefined
  return gapOf(orderType, BigInt(amount), BigInt(bestAmount))
}

/** The best amount after the deposit deadline. A deposit is still possible in the second of the deadline. */
function finalBestAmountOf(record: QuoteRecord, now: number): string | undefined {
  return Math.floor(now / 1000) > record.request.depositDeadline ? bestAmountOf(record) : undefined
}

function bestAmountOf({ request, solvers }: QuoteRecord): string | undefined {
  const best = solvers.find(({ rank }) => rank === 1)
  return request.orderType === 'EXACT_INPUT' ? best?.outputAmount : best?.inputAmount
}
