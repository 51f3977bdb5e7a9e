import type { Address } from '../domain/hex.js'
import type { QuoteRequest, SignedQuote } from '../domain/quote.js'
import type { QuoteRecord, RecordedAttempt } from '../domain/quote-record.js'
import type { AttemptResult } from './attempt-result.js'

/** What happened in a quote. Its record is built from this later. */
export interface QuoteTrace {
  readonly quoteId: string
  readonly request: QuoteRequest
  /** Unix time in milliseconds. */
  readonly requestedAt: number
  readonly durationMs: number
  readonly outcome: QuoteRecord['outcome']
  /** The valid offers, best first. */
  readonly ranked: readonly SignedQuote[]
  /** The result of each solver that the quote waited for. */
  readonly results: readonly AttemptTrace[]
  /** The solvers that were asked, in the order of requests. */
  readonly solvers: readonly Address[]
  /** The solvers that were asked, and for which the quote did not wait. */
  readonly circuitOpen: readonly Address[]
}

/** The result of the request to one solver. */
export interface AttemptTrace {
  readonly solver: Address
  readonly outcome: AttemptResult
  readonly tookMs: number
}

/** Builds the record of a quote. */
export function toQuoteRecord(trace: QuoteTrace): QuoteRecord {
  const { quoteId, request, requestedAt, durationMs, outcome, ranked, results, circuitOpen } = trace
  const indexes = new Map(trace.solvers.map((solver, index) => [solver, index]))
  const ranks = new Map(ranked.map((offer, index) => [offer, index + 1]))
  const offers: RecordedAttempt[] = []
  const others: RecordedAttempt[] = []
  for (const result of results) {
    const kept = toRecordedAttempt(result, indexes, ranks)
    if (kept.rank === undefined) others.push(kept)
    else offers[kept.rank - 1] = kept
  }
  for (const solver of circuitOpen)
    others.push({ solver, index: indexes.get(solver), outcome: 'circuit_open' })
  return {
    quoteId,
    chainId: request.chainId,
    requestedAt,
    durationMs: Math.round(durationMs),
    outcome,
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

/** One object literal serves all outcomes: there are many results, and to merge objects takes many times as long. */
function toRecordedAttempt(
  { solver, outcome, tookMs }: AttemptTrace,
  indexes: ReadonlyMap<Address, number>,
  ranks: ReadonlyMap<SignedQuote, number>,
): RecordedAttempt {
  const { kind } = outcome
  const quote = kind === 'quoted' ? outcome.offer.quote : undefined
  const amounts = kind === 'invalid' ? outcome.amounts : undefined
  return {
    solver,
    index: indexes.get(solver),
    outcome: kind,
    rank: kind === 'quoted' ? ranks.get(outcome.offer) : undefined,
    durationMs: Math.round(tookMs),
    inputAmount: quote?.inputAmount.toString() ?? amounts?.inputAmount,
    outputAmount: quote?.outputAmount.toString() ?? amounts?.outputAmount,
    reason: kind === 'invalid' || kind === 'failed' ? outcome.reason : undefined,
    httpStatus: kind === 'declined' ? outcome.status : undefined,
  }
}
