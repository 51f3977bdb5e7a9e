import { keyOf, type Solver, type SolverKey } from '../../domain/solvers/solver.js'
import type { SolverResult } from '../../domain/solvers/solver-result.js'
import { COUNTED_RESULTS } from '../../domain/solvers/solver-statistics.js'
import type { Metrics } from '../../telemetry/metrics.js'

/** Counts the results of requests to each solver in the metrics. */
export interface SolverCounters {
  /**
   * Counts a result.
   * @param seconds the time of a response; undefined without a response
   */
  count(solver: SolverKey, outcome: SolverResult['kind'], seconds: number | undefined): void
  /** Counts a round that waited for this solver last. */
  countLast(solver: SolverKey): void
  /** Counts a quote whose best offer was the solver's. */
  countWin(solver: SolverKey): void
  /**
   * Removes the series of solvers that have left.
   * @param reachable the reachable solvers of each chain; all others have left
   */
  removeOthers(reachable: ReadonlyMap<number, readonly Solver[]>): void
}

type SolverMetrics = Pick<Metrics, 'solverOutcomes' | 'solverResponseSeconds' | 'solverLast' | 'solverWins'>

const OUTCOMES: readonly SolverResult['kind'][] = [...COUNTED_RESULTS, 'cancelled']

/** Builds the counters. */
export function createSolverCounters(metrics: SolverMetrics): SolverCounters {
  /** The solvers that have series. */
  const counted = new Map<string, SolverKey>()
  const { solverOutcomes, solverResponseSeconds, solverLast, solverWins } = metrics

  function remove(solver: SolverKey): void {
    const labels = labelsOf(solver)
    for (const outcome of OUTCOMES) solverOutcomes.remove({ ...labels, outcome })
    for (const metric of [solverResponseSeconds, solverLast, solverWins]) metric.remove(labels)
  }

  return {
    count(solver, outcome, seconds) {
      counted.set(keyOf(solver), solver)
      solverOutcomes.inc({ ...labelsOf(solver), outcome })
      if (seconds !== undefined) solverResponseSeconds.observe(labelsOf(solver), seconds)
    },
    countLast(solver) {
      if (counted.has(keyOf(solver))) solverLast.inc(labelsOf(solver))
    },
    countWin(solver) {
      if (counted.has(keyOf(solver))) solverWins.inc(labelsOf(solver))
    },
    removeOthers(reachable) {
      const isReachable = new Set([...reachable.values()].flat().map(keyOf))
      for (const [key, solver] of counted) {
        if (isReachable.has(key)) continue
        remove(solver)
        counted.delete(key)
      }
    },
  }
}

function labelsOf({ chainId, address }: SolverKey) {
  return { chain_id: chainId, solver: address }
}
