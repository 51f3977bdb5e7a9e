import { keyOf, type Solver, type SolverKey } from '../../../packages/protocol/src/solvers/solver.js'
import type { SolverResult } from '../../../packages/protocol/src/solvers/solver-result.js'
import {
  COUNTED_RESULTS,
  type SolverSummary,
} from '../../../packages/protocol/src/solvers/solver-statistics.js'
import type { Metrics } from '../../telemetry/metrics.js'
import type { FreeBonds } from '../bonds/free-bonds.js'
import type { CoolDowns } from '../conduct/cool-downs.js'
import type { SolverHealth } from '../conduct/solver-health.js'
import type { SolverDirectory } from '../registry/solver-directory.js'
import type { StatisticsReader } from './statistics-reader.js'

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

interface SolverMetricsOptions {
  readonly chainIds: readonly number[]
  readonly directory: Pick<SolverDirectory, 'active' | 'registered'>
  readonly freeBonds: Pick<FreeBonds, 'of'>
  readonly coolDowns: Pick<CoolDowns, 'of'> | undefined
  readonly metrics: Pick<Metrics, 'solvers' | 'solverFreeBond' | 'solverCoolDown'>
}

/** Adds the numbers of solvers, and the free bonds and cool-downs of the active ones, to the metrics. */
export function collectSolverMetrics({
  chainIds,
  directory,
  freeBonds,
  coolDowns,
  metrics,
}: SolverMetricsOptions): void {
  metrics.solverFreeBond.reset()
  metrics.solverCoolDown.reset()
  for (const chain_id of chainIds) {
    const active = directory.active(chain_id)
    const inactive = directory.registered(chain_id).length - active.length
    metrics.solvers.set({ chain_id, state: 'active' }, active.length)
    metrics.solvers.set({ chain_id, state: 'inactive' }, inactive)
    for (const solver of active) {
      const labels = { chain_id, solver: solver.address }
      const freeBond = freeBonds.of(solver)
      if (freeBond !== undefined) metrics.solverFreeBond.set(labels, Number(freeBond))
      metrics.solverCoolDown.set(labels, Number(coolDowns?.of(solver) !== undefined))
    }
  }
}

/**
 * Adds the health of reachable solvers to the metrics.
 * @param connectionsOf the number of open connections to a solver
 */
export function collectHealthMetrics(
  healths: readonly SolverHealth[],
  connectionsOf: (solver: SolverHealth['solver']) => number,
  metrics: Metrics,
): void {
  const { solverCircuitOpen, solverValidShare, solverUsualSeconds, solverConnections, solverWaiting } =
    metrics
  const gauges = [solverCircuitOpen, solverValidShare, solverUsualSeconds, solverConnections, solverWaiting]
  for (const gauge of gauges) gauge.reset()
  for (const health of healths) {
    const labels = { chain_id: health.solver.chainId, solver: health.solver.address }
    solverCircuitOpen.set(labels, Number(health.isOpen))
    solverValidShare.set(labels, health.validShare)
    solverConnections.set(labels, connectionsOf(health.solver))
    solverWaiting.set(labels, health.slots.waiting)
    if (health.usualMs !== undefined) solverUsualSeconds.set(labels, health.usualMs / 1000)
  }
}

interface OrderMetricsOptions {
  readonly chainIds: readonly number[]
  readonly statistics: Pick<StatisticsReader, 'bySolver'>
  readonly directory: Pick<SolverDirectory, 'registered'>
  readonly metrics: Pick<Metrics, 'solverOrders'>
  /** Milliseconds that never go back. */
  readonly clock: () => number
}

const STEPS = ['deposited', 'settled', 'refunded'] as const
const WINDOW_HOURS = 24
const INTERVAL_MS = 30_000

/**
 * Builds the function that adds the orders of registered solvers to the metrics. It reads them when metrics are collected, at
 * most twice a minute, and the next collection has what it has read. After a read that failed, the last numbers stay.
 */
export function createOrderMetrics(options: OrderMetricsOptions): () => void {
  const { chainIds, statistics, directory, metrics, clock } = options
  const known = new Map<number, ReadonlyMap<string, SolverSummary>>()
  let readAt = Number.NEGATIVE_INFINITY

  function read(): void {
    if (clock() - readAt < INTERVAL_MS) return
    readAt = clock()
    for (const chainId of chainIds)
      statistics.bySolver(chainId, WINDOW_HOURS).then(
        (counts) => known.set(chainId, counts),
        () => {},
      )
  }

  return () => {
    metrics.solverOrders.reset()
    for (const [chain_id, counts] of known) {
      for (const { address } of directory.registered(chain_id))
        for (const step of STEPS)
          metrics.solverOrders.set({ chain_id, solver: address, step }, counts.get(address)?.[step] ?? 0)
    }
    read()
  }
}
