import type { Solver, SolverKey } from '../domain/solver.js'

/** All solvers of one chain, and the active ones. The lists never change. */
export interface SolverSet {
  readonly registered: readonly Solver[]
  readonly active: readonly Solver[]
}

/** The registered solvers of all chains in memory. A change replaces the lists of its chain. */
export interface SolverSets {
  /** Undefined until the chain's solvers are known. */
  get(chainId: number): SolverSet | undefined
  registered(chainId: number): readonly Solver[]
  find(key: SolverKey): Solver | undefined
  replace(chainId: number, registered: readonly Solver[]): void
  /** Adds a solver at the end, or replaces it in its position. */
  put(solver: Solver): void
  drop(key: SolverKey): void
}

/** Builds the sets, without any chain. */
export function createSolverSets(): SolverSets {
  const sets = new Map<number, SolverSet>()

  function registered(chainId: number): readonly Solver[] {
    return sets.get(chainId)?.registered ?? []
  }

  function find({ chainId, address }: SolverKey): Solver | undefined {
    return registered(chainId).find((solver) => solver.address === address)
  }

  function replace(chainId: number, solvers: readonly Solver[]): void {
    sets.set(chainId, { registered: solvers, active: solvers.filter(({ isBonded }) => isBonded) })
  }

  return {
    get: (chainId) => sets.get(chainId),
    registered,
    find,
    replace,
    put(solver) {
      const all = registered(solver.chainId)
      const before = find(solver)
      replace(
        solver.chainId,
        before ? all.map((other) => (other === before ? solver : other)) : [...all, solver],
      )
    },
    drop({ chainId, address }) {
      replace(
        chainId,
        registered(chainId).filter((solver) => solver.address !== address),
      )
    },
  }
}
