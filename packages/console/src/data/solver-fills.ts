import type { SolverStats } from '../../../../gen/aggregator/v1/solver_stats_pb.js'
import type { OrderEvent } from './order-event.js'

/** Adds fills to statistics. */
export function withFills(
  solvers: readonly SolverStats[],
  fills: readonly Pick<OrderEvent, 'solver'>[],
): SolverStats[] {
  return solvers.map((stats) => {
    const added = fills.filter(({ solver }) => solver?.toLowerCase() === stats.solver.toLowerCase()).length
    if (added === 0) return stats
    const settled = stats.settled + BigInt(added)
    return { ...stats, settled, fillRate: Number(settled) / Number(settled + stats.refunded) }
  })
}
