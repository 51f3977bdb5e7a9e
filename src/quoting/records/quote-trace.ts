import type { QuoteRequest, SignedQuote } from '../../domain/quotes/quote.js'
import type { QuoteRecord, RecordedResult } from '../../domain/quotes/quote-record.js'
import type { Address } from '../../domain/values/hex.js'
import type { SolverAttempt } from '../round/solver-attempt.js'

/** What happened in a quote. Its record is built from this. */
export interface QuoteTrace {
  readonly quoteId: string
  readonly request: QuoteRequest
  /** Unix time in milliseconds. */
  readonly requestedAt: number
  readonly durationMs: number
  readonly outcome: QuoteRecord['outcome']
  /** The valid offers, best first. */
  readonly ranked: readonly SignedQuote[]
  /** The requests to the solvers that the quote waited for, in the order of their results. */
  readonly attempts: readonly SolverAttempt[]
  /** The solvers that were asked, in the order of requests. */
  readonly solvers: readonly Address[]
  /** The solvers that were asked, and for which the quote did not wait. */
  readonly circuitOpen: readonly Address[]
}

/** Builds the record of a quote. */
export function toQuoteRecord(trace: QuoteTrace): QuoteRecord {
  const { quoteId, request, requestedAt, durationMs, outcome, ranked, attempts, circuitOpen } = trace
  const indexes = new Map(trace.solvers.map((solver, index) => [solver, index]))
  const ranks = new Map(ranked.map((offer, index) => [offer, index + 1]))
  const offers: RecordedResult[] = []
  const others: RecordedResult[] = []
  for (const attempt of attempts) {
    const recorded = toRecordedResult(attempt, indexes, ranks)
    if (recorded.rank === undefined) others.push(recorded)
    else offers[recorded.rank - 1] = recorded
  }
  for (const solver of circuitOpen)
    others.push({ solver, index: indexes.get(solver), outcome: 'circuit_open' })
  return {
    quoteId,
    chainId: request.chainId,
    requestedAt,
    durationMs: Math.round(durationMs),
    outcome,
    kind: request.kind,
    request: {
      inputToken: request.inputToken,
      outputToken: request.outputToken,
      orderType: request.orderType,
      amount: request.amount.toString(),
      user: request.user,
      destinationChainId: request.destinationChainId,
      depositMode: request.depositMode,
      depositDeadline: request.depositDeadline,
      fillDeadline: request.fillDeadline,
    },
    solvers: offers.concat(others),
  }
}

/**
 * The stored form of a result. One object literal serves all kinds: there are many results, and to merge objects takes
 * many times as long.
 */
export function toRecordedResult(
  { solver, result, tookMs }: SolverAttempt,
  indexes?: ReadonlyMap<Address, number>,
  ranks?: ReadonlyMap<SignedQuote, number>,
): RecordedResult {
  const { kind } = result
  const offer = kind === 'quoted' ? result.offer : undefined
  const amounts = kind === 'invalid' ? result.amounts : undefined
  return {
    solver,
    index: indexes?.get(solver),
    outcome: kind,
    rank: offer && ranks?.get(offer),
    durationMs: Math.round(tookMs),
    inputAmount: offer?.quote.inputAmount.toString() ?? amounts?.inputAmount,
    outputAmount: offer?.quote.outputAmount.toString() ?? amounts?.outputAmount,
    reason: 'reason' in result ? result.reason : undefined,
    httpStatus: 'status' in result ? result.status : undefined,
    declineCode: 'code' in result ? result.code : undefined,
    verified: offer?.verified,
  }
}
