import { LRUCache } from 'lru-cache'
import type { SolverKey } from '../../packages/protocol/src/solvers/solver.js'
import type { Address } from '../../packages/protocol/src/values/hex.js'
import type { Logger } from '../telemetry/log.js'
import { Pairs } from './lessons.js'
import { createStanding, type Fact, observe, type Standing } from './standing.js'

/** The standings of all solvers, in the memory of this process. After a start, nothing is known. */
export interface Standings {
  of(solver: SolverKey): Standing
  pairsOf(chainId: number): Pairs
  /** Records a fact, and logs a circuit breaker that opens or closes. */
  observe(solver: SolverKey, fact: Fact): void
}

interface StandingsOptions {
  /** Milliseconds that never go back. */
  readonly clock: () => number
  readonly log: Logger
}

interface ChainStandings {
  readonly pairs: Pairs
  readonly standings: LRUCache<Address, Standing>
}

/** A chain keeps so many standings, of more solvers than may register. The one goes that was asked longest ago. */
const MAX_STANDINGS = 2048

/** Builds the standings. */
export function createStandings({ clock, log }: StandingsOptions): Standings {
  const chains = new Map<number, ChainStandings>()

  function chainOf(chainId: number): ChainStandings {
    const known = chains.get(chainId)
    if (known !== undefined) return known
    const standings = new LRUCache<Address, Standing>({ max: MAX_STANDINGS })
    const chain = { pairs: new Pairs(), standings }
    chains.set(chainId, chain)
    return chain
  }

  function of({ chainId, address }: SolverKey): Standing {
    const { standings } = chainOf(chainId)
    const known = standings.get(address)
    if (known !== undefined) return known
    const standing = createStanding()
    standings.set(address, standing)
    return standing
  }

  return {
    of,
    pairsOf: (chainId) => chainOf(chainId).pairs,
    observe(solver, fact) {
      const standing = of(solver)
      const { breaker } = standing
      const wasClosed = breaker.isClosed
      observe(standing, fact, clock())
      if (breaker.isClosed === wasClosed) return
      const context = { chainId: solver.chainId, solver: solver.address }
      if (wasClosed)
        log.warn(context, 'a solver loses time: its circuit breaker opens, and quotes do not ask it')
      else log.info(context, 'a solver answers again: its circuit breaker closes')
    },
  }
}
