import type { QuoteRecord } from '../../../packages/protocol/src/quotes/quote-record.js'
import {
  type RecordedResult,
  toRecordedResult,
} from '../../../packages/protocol/src/solvers/solver-result.js'
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
