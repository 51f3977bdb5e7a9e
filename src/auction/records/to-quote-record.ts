import type { SignedQuote } from '../../../packages/protocol/src/quotes/quote.js'
import type { QuoteRecord, RecordedResult } from '../../../packages/protocol/src/quotes/quote-record.js'
import type { Address } from '../../../packages/protocol/src/values/hex.js'
import type { SolverAttempt } from '../attempt.js'
import type { EndedRound } from '../sinks.js'

/** Builds the record of a quote. */
export function toQuoteRecord(round: EndedRound): QuoteRecord {
  const { quoteId, request, key, requestedAt, durationMs, outcome, ranked, attempts, probed } = round
  const indexes = new Map([...round.quoteIds.keys()].map((solver, index) => [solver, index]))
  const ranks = new Map(ranked.map((offer, index) => [offer, index + 1]))
  const offers: RecordedResult[] = []
  const others: RecordedResult[] = []
  for (const attempt of attempts) {
    const recorded = toRecordedResult(attempt, indexes, ranks)
    if (recorded.rank === undefined) others.push(recorded)
    else offers[recorded.rank - 1] = recorded
  }
  for (const solver of probed) others.push({ solver, index: indexes.get(solver), outcome: 'circuit_open' })
  return {
    quoteId,
    chainId: request.chainId,
    requestedAt,
    durationMs: Math.round(durationMs),
    outcome,
    kind: request.kind,
    key,
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
  { solver, result, tookMs, chosenBy, gapBps, isWaitedFor }: SolverAttempt,
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
    chosenBy,
    gapBps,
    isWaitedFor,
  }
}
