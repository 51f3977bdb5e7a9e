import type { Solver } from '../domain/solver.js'

/** Chooses whom to ask when more are registered than may be asked at once. */
export interface Selection {
  /** @returns at most `limit` of `solvers` */
  pick(chainId: number, solvers: readonly Solver[], limit: number): readonly Solver[]
}

/**
 * Builds a selection in turns: each quote goes on behind the last solver that the one before asked, so that among
 * n solvers each is asked in `limit` of n quotes (decisions.md D4).
 */
export function createSelection(): Selection {
  const turns = new Map<number, number>()
  return {
    pick(chainId, solvers, limit) {
      if (solvers.length <= limit) return solvers
      const start = (turns.get(chainId) ?? 0) % solvers.length
      turns.set(chainId, start + limit)
      const picked = solvers.slice(start, start + limit)
      return picked.concat(solvers.slice(0, limit - picked.length))
    },
  }
}
