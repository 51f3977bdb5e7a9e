import { LRUCache } from 'lru-cache'
import { keyOf, type Solver } from '../../domain/solvers/solver.js'
import type { SolverHealth } from './solver-health.js'

/**
 * Keeps the health of solvers without an endpoint while they are not connected. It belongs to the address, so that the next
 * session continues with it (docs/decisions.md, D18). An open period stays in the store meanwhile: a restart of the service
 * ends all sessions.
 */
export interface DisconnectedHealth {
  keep(health: SolverHealth): void
  has(health: SolverHealth): boolean
  /** Takes the health of a solver that is reachable again; undefined when none is kept. */
  take(solver: Solver): SolverHealth | undefined
}

/** As long as the solver keeps its place. */
const KEPT_MS = 300_000
const MAX_KEPT = 1024

/** @param clock the clock of the solvers' health, in milliseconds; it never goes back */
export function createDisconnectedHealth(clock: () => number): DisconnectedHealth {
  const kept = new LRUCache<string, { readonly health: SolverHealth; readonly leftAt: number }>({
    max: MAX_KEPT,
  })

  return {
    keep: (health) => void kept.set(keyOf(health.solver), { health, leftAt: clock() }),
    has: (health) => kept.peek(keyOf(health.solver))?.health === health,
    take(solver) {
      const key = keyOf(solver)
      const entry = kept.get(key)
      kept.delete(key)
      return entry !== undefined && clock() - entry.leftAt <= KEPT_MS ? entry.health : undefined
    },
  }
}
