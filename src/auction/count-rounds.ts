import type { QuoteRequest } from '../../packages/protocol/src/quotes/quote.js'
import { isOverdue, responseOf } from '../../packages/protocol/src/solvers/solver-result.js'
import type { SolverStatistics } from '../solvers/statistics/hourly-counts.js'
import type { SolverCounters } from '../solvers/statistics/solver-counters.js'
import type { Metrics } from '../telemetry/metrics.js'
import type { SolverAttempt } from './attempt.js'
import type { EndedRound, RoundSink } from './sinks.js'

interface RoundCountsOptions {
  readonly counters: Pick<SolverCounters, 'count' | 'countLast' | 'countWin'>
  readonly statistics: Pick<SolverStatistics, 'count' | 'countWin'>
  readonly metrics: Pick<Metrics, 'quotes' | 'solverReplies' | 'quoteIdleSeconds'>
}

/**
 * Builds the sink that counts rounds in metrics and statistics. What solvers did is counted as it was before the settlement contract
 * checked their offers. Prices are in no metric and no statistic of a solver (docs/decisions.md, D17).
 */
export function createRoundCounts({ counters, statistics, metrics }: RoundCountsOptions): RoundSink {
  function countAttempts({ chainId }: QuoteRequest, attempts: readonly SolverAttempt[]): void {
    for (const { solver, result, tookMs } of attempts) {
      const key = { chainId, address: solver }
      const reason = (result.kind !== 'failed' && 'reason' in result && result.reason) || ''
      metrics.solverReplies.inc({ chain_id: chainId, outcome: result.kind, reason })
      const responseMs = responseOf(result) === undefined ? undefined : tookMs
      counters.count(key, result.kind, responseMs && responseMs / 1000)
      statistics.count(key, result.kind, responseMs)
    }
  }

  function countRound({ request, outcome, ranked, attempts, idleMs }: EndedRound): void {
    const { chainId } = request
    metrics.quotes.inc({ chain_id: chainId, outcome })
    if (outcome === 'cancelled') return
    const [best] = ranked
    if (best !== undefined) {
      const winner = { chainId, address: best.quote.solver }
      counters.countWin(winner)
      statistics.countWin(winner, ranked.length === 1)
    }
    if (idleMs !== undefined) metrics.quoteIdleSeconds.observe({ chain_id: chainId }, idleMs / 1000)
    for (const { solver } of lastOf(attempts)) counters.countLast({ chainId, address: solver })
  }

  return (event) => {
    if (!('request' in event) || event.request.kind === 'INDICATIVE') return
    if (event.kind === 'probed') countAttempts(event.request, [event.attempt])
    else if (event.kind === 'unstarted')
      metrics.quotes.inc({ chain_id: event.request.chainId, outcome: event.outcome })
    else if (event.kind === 'ended') {
      countAttempts(event.request, event.checked)
      countRound(event)
    }
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
