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
  /** Who was asked, in the order of asking. */
  readonly asked: readonly Address[]
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
  const indexes = new Map(minutes.asked.map((solver, index) => [solver, index]))
  const ranks = new Map(ranked.map((offer, index) => [offer, index + 1]))
  const offers: SolverAnswer[] = []
  const others: SolverAnswer[] = []
  for (const answer of answers) {
    const kept = toSolverAnswer(answer, indexes, ranks)
    if (kept.rank === undefined) others.push(kept)
    else offers[kept.rank - 1] = kept
  }
  for (const solver of benched) others.push({ solver, index: indexes.get(solver), outcome: 'benched' })
  return {
    quoteId,
    chainId: request.chainId,
    requestedAt,
    durationMs: Math.round(durationMs),
    outcome,
    asked: {
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

/** One literal for all outcomes: there are many answers, and to put objects together takes many times as long. */
function toSolverAnswer(
  { solver, outcome, tookMs }: NotedAnswer,
  indexes: ReadonlyMap<Address, number>,
  ranks: ReadonlyMap<SignedQuote, number>,
): SolverAnswer {
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
    httpStatus: kind === 'refused' ? outcome.status : undefined,
  }
}
