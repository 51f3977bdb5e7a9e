import type { Address } from '../domain/hex.js'
import type { QuoteRequest, SignedQuote } from '../domain/quote.js'
import type { QuoteRecord, SolverAnswer } from '../domain/quote-record.js'
import type { SolverOutcome } from './outcome.js'

/** What is noted of a quote while it comes about; to make a record of it is left for later. */
export interface Minutes {
  readonly quoteId: string
  readonly request: QuoteRequest
  /** Unix time in milliseconds. */
  readonly requestedAt: number
  readonly durationMs: number
  readonly outcome: QuoteRecord['outcome']
  /** The valid offers, best first. */
  readonly ranked: readonly SignedQuote[]
  /** What came of each solver that was waited for. */
  readonly answers: readonly NotedAnswer[]
  /** Who was asked without being waited for. */
  readonly benched: readonly Address[]
}

/** What came of one solver. */
export interface NotedAnswer {
  readonly solver: Address
  readonly outcome: SolverOutcome
  readonly tookMs: number
}

/** Makes the record of a quote. */
export function toQuoteRecord(minutes: Minutes): QuoteRecord {
  const { quoteId, request, requestedAt, durationMs, outcome, ranked, answers, benched } = minutes
  const { chainId, amount, ...asked } = request
  const places = new Map(ranked.map((offer, index) => [offer, index + 1]))
  const solvers = answers.map((answer) => toSolverAnswer(answer, places)).sort(byRank)
  return {
    quoteId,
    chainId,
    requestedAt,
    durationMs: Math.round(durationMs),
    outcome,
    asked: { ...asked, amount: amount.toString() },
    solvers: [...solvers, ...benched.map((solver) => ({ solver, outcome: 'benched' as const }))],
  }
}

function toSolverAnswer(
  { solver, outcome, tookMs }: NotedAnswer,
  places: ReadonlyMap<SignedQuote, number>,
): SolverAnswer {
  const answer = { solver, outcome: outcome.kind, durationMs: Math.round(tookMs) }
  switch (outcome.kind) {
    case 'quoted': {
      const { inputAmount, outputAmount } = outcome.offer.quote
      const amounts = { inputAmount: inputAmount.toString(), outputAmount: outputAmount.toString() }
      const rank = places.get(outcome.offer)
      return { ...answer, ...amounts, ...(rank === undefined ? {} : { rank }) }
    }
    case 'refused':
      return { ...answer, httpStatus: outcome.status }
    case 'invalid':
      return { ...answer, ...outcome.amounts, reason: outcome.reason }
    case 'failed':
      return { ...answer, reason: outcome.reason }
    case 'late':
    case 'cancelled':
      return answer
  }
}

function byRank(a: SolverAnswer, b: SolverAnswer): number {
  return (a.rank ?? Number.POSITIVE_INFINITY) - (b.rank ?? Number.POSITIVE_INFINITY) || 0
}
