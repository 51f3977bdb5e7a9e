import type { QuoteRequest } from '../../domain/quotes/quote.js'
import type { SolverKey } from '../../domain/solvers/solver.js'
import { isOverdue, type SolverResult } from '../../domain/solvers/solver-result.js'
import type { SolverCounters } from '../../solvers/statistics/solver-metrics.js'
import type { SolverStatistics } from '../../solvers/statistics/solver-statistics.js'
import type { Logger } from '../../telemetry/log.js'
import type { Metrics } from '../../telemetry/metrics.js'
import type { QuoteTrace } from '../records/quote-trace.js'
import type { SolverAttempt } from './solver-attempt.js'

/** Counts rounds and their results. Prices are in none of these metrics (docs/decisions.md, D17). */
export interface RoundMetrics {
  /**
   * Counts a round that has ended, without its results, and logs one without an offer.
   * @param idleMs time from the best offer to the end; undefined without an offer
   */
  countRound(trace: QuoteTrace, idleMs: number | undefined): void
  /**
   * Counts a round that asked no solver: all connections were in use, it could not begin in time, or its caller had left
   * before.
   */
  countUnstarted(request: QuoteRequest, outcome: 'busy' | 'overloaded' | 'cancelled'): void
  countResults(request: QuoteRequest, results: readonly SolverResult[]): void
}

interface RoundMetricsOptions {
  readonly counters: Pick<SolverCounters, 'countLast' | 'countWin'>
  readonly statistics: Pick<SolverStatistics, 'countWin'>
  readonly metrics: Pick<Metrics, 'quotes' | 'solverReplies' | 'quoteIdleSeconds'>
  readonly log: Logger
}

/** Builds the metrics of rounds. */
export function createRoundMetrics({
  counters,
  statistics,
  metrics,
  log,
}: RoundMetricsOptions): RoundMetrics {
  function countResults({ chainId, kind }: QuoteRequest, results: readonly SolverResult[]): void {
    if (kind === 'INDICATIVE') return
    let offers = 0
    for (const result of results) {
      if (result.kind === 'quoted') offers++
      else {
        const reason = (result.kind !== 'failed' && 'reason' in result && result.reason) || ''
        metrics.solverReplies.inc({ chain_id: chainId, outcome: result.kind, reason })
      }
    }
    if (offers > 0) metrics.solverReplies.inc({ chain_id: chainId, outcome: 'quoted', reason: '' }, offers)
  }

  function countWin(solver: SolverKey, isAlone: boolean): void {
    counters.countWin(solver)
    statistics.countWin(solver, isAlone)
  }

  function logWithoutOffer({ quoteId, request, durationMs, attempts, circuitOpen }: QuoteTrace): void {
    const outcomes = attempts.map(({ solver, result, tookMs }) => {
      return { solver, outcome: result, tookMs: Math.round(tookMs) }
    })
    const level = request.kind === 'FIRM' ? 'warn' : 'debug'
    log[level](
      { quoteId, chainId: request.chainId, durationMs, outcomes, circuitOpen },
      'no solver gave a valid quote',
    )
  }

  return {
    countRound(trace, idleMs) {
      const { request, outcome, attempts } = trace
      if (outcome === 'no_quotes') logWithoutOffer(trace)
      if (request.kind === 'INDICATIVE') return
      metrics.quotes.inc({ chain_id: request.chainId, outcome })
      if (outcome === 'cancelled') return
      const [best] = trace.ranked
      if (best !== undefined)
        countWin({ chainId: request.chainId, address: best.quote.solver }, trace.ranked.length === 1)
      if (idleMs !== undefined) metrics.quoteIdleSeconds.observe({ chain_id: request.chainId }, idleMs / 1000)
      for (const { solver } of lastOf(attempts))
        counters.countLast({ chainId: request.chainId, address: solver })
    },
    countUnstarted({ chainId, kind }, outcome) {
      if (kind === 'FIRM') metrics.quotes.inc({ chain_id: chainId, outcome })
    },
    countResults,
  }
}

/**
 * The attempts that the round waited for last: those without a response at its end, otherwise the last response. A caller's
 * deadline that cut off others ended the waiting, so that those do not count.
 */
function lastOf(attempts: readonly SolverAttempt[]): readonly SolverAttempt[] {
  const overdue = attempts.filter(({ result }) => isOverdue(result))
  return overdue.length > 0 ? overdue : attempts.filter(({ result }) => result.kind !== 'cancelled').slice(-1)
}
