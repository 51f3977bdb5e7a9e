import { keyOf, type Solver, type SolverKey } from '../../../packages/protocol/src/solvers/solver.js'
import type { SolverResult } from '../../../packages/protocol/src/solvers/solver-result.js'
import {
  COUNTED_RESULTS,
  type SolverSummary,
} from '../../../packages/protocol/src/solvers/solver-statistics.js'
import type { Address } from '../../../packages/protocol/src/values/hex.js'
import type { Standings } from '../../standing/standing.js'
import type { Metrics } from '../../telemetry/metrics.js'
import type { FreeBonds } from '../bonds/free-bonds.js'
import type { RegistryContext } from '../registry/context.js'
import type { SolverDirectory } from '../registry/solver-directory.js'
import type { SlotsByConnection } from '../transport/request-slots.js'
import type { StatisticsReader } from './statistics-reader.js'

const OUTCOMES: readonly SolverResult['kind'][] = [...COUNTED_RESULTS, 'cancelled']

/**
 * Removes the series of solvers that have left.
 * @param reachable the reachable solvers of each chain; all others have left
 */
export async function removeOtherSolvers(
  { solverOutcomes, solverResponseSeconds, solverWins }: Metrics,
  reachable: ReadonlyMap<number, readonly Solver[]>,
): Promise<void> {
  const isReachable = new Set([...reachable.values()].flat().map(keyOf))
  const { values } = await solverOutcomes.get()
  for (const { labels } of values) {
    const solver = { chainId: Number(labels.chain_id), address: labels.solver as Address }
    if (isReachable.has(keyOf(solver))) continue
    for (const outcome of OUTCOMES) solverOutcomes.remove({ ...labelsOf(solver), outcome })
    for (const metric of [solverResponseSeconds, solverWins]) metric.remove(labelsOf(solver))
  }
}

function labelsOf({ chainId, address }: SolverKey) {
  return { chain_id: chainId, solver: address }
}

/** Adds the numbers of solvers, and the free bonds of the active ones, to the metrics. */
export function collectSolverMetrics(
  chainIds: readonly number[],
  directory: SolverDirectory,
  freeBonds: FreeBonds,
  metrics: Metrics,
): void {
  metrics.solverFreeBond.reset()
  for (const chain_id of chainIds) {
    const active = directory.active(chain_id)
    const inactive = directory.registered(chain_id).length - active.length
    metrics.solvers.set({ chain_id, state: 'active' }, active.length)
    metrics.solvers.set({ chain_id, state: 'inactive' }, inactive)
    for (const solver of active) {
      const labels = { chain_id, solver: solver.address }
      const freeBond = freeBonds.of(solver)
      if (freeBond !== undefined) metrics.solverFreeBond.set(labels, Number(freeBond))
    }
  }
}

interface StandingMetricsOptions {
  /** The reachable solvers. */
  readonly solvers: readonly Solver[]
  readonly standings: Standings
  readonly slots: SlotsByConnection
  /** The number of open connections to a solver. */
  readonly connectionsOf: (solver: Solver) => number
  readonly metrics: Metrics
}

/** Adds the standings and the connections of reachable solvers to the metrics. */
export function collectStandingMetrics(options: StandingMetricsOptions): void {
  const { solvers, standings, slots, connectionsOf } = options
  const { solverCircuitOpen, solverConnections, solverWaiting } = options.metrics
  for (const gauge of [solverCircuitOpen, solverConnections, solverWaiting]) gauge.reset()
  for (const solver of solvers) {
    const labels = labelsOf(solver)
    solverCircuitOpen.set(labels, Number(!standings.of(solver).isCircuitClosed))
    solverConnections.set(labels, connectionsOf(solver))
    solverWaiting.set(labels, slots.of(solver).waiting)
  }
}

const STEPS = ['deposited', 'settled', 'refunded'] as const
const WINDOW_HOURS = 24

/**
 * Builds the function that adds the orders of registered solvers to the metrics. It reads them when metrics are collected,
 * and the next collection has what it has read. After a read that failed, the last numbers stay.
 */
export function createOrderMetrics(
  { config, directory, metrics }: RegistryContext,
  statistics: StatisticsReader,
): () => void {
  const known = new Map<number, ReadonlyMap<string, SolverSummary>>()

  function read(): void {
    for (const { chainId } of config.chains)
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
