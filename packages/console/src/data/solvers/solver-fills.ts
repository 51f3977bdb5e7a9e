import type { SolverStats } from '../../../../../gen/aggregator/v1/solver_stats_pb.js'

/** Numbers of fills by solver, whose address may have any letter case. */
export interface FillCounts {
  add(solver: string | undefined): void
  of(solver: string): number
}

export function createFillCounts(): FillCounts {
  const counts = new Map<string, number>()
  const of = (solver: string) => counts.get(solver.toLowerCase()) ?? 0
  return {
    of,
    add(solver) {
      if (solver !== undefined) counts.set(solver.toLowerCase(), of(solver) + 1)
    },
  }
}

/** Adds fills to statistics. */
export function withFills(solvers: readonly SolverStats[], fills: FillCounts): SolverStats[] {
  return solvers.map((stats) => {
    const added = fills.of(stats.solver)
    if (added === 0) return stats
    const settled = stats.settled + BigInt(added)
    return { ...stats, settled, fillRate: Number(settled) / Number(settled + stats.refunded) }
  })
}
