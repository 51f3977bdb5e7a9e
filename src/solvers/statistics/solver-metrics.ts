import type { Metrics } from '../../telemetry/metrics.js'
import type { FreeBonds } from '../bonds/free-bonds.js'
import type { CoolDowns } from '../conduct/cool-downs.js'
import type { SolverHealth } from '../conduct/solver-health.js'
import type { SolverDirectory } from '../registry/solver-directory.js'

interface SolverMetricsOptions {
  readonly chainIds: readonly number[]
  readonly directory: Pick<SolverDirectory, 'active' | 'registered'>
  readonly freeBonds: Pick<FreeBonds, 'of'>
  readonly coolDowns: Pick<CoolDowns, 'of'>
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
      metrics.solverCoolDown.set(labels, Number(coolDowns.of(solver) !== undefined))
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
