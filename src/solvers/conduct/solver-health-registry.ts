import { LRUCache } from 'lru-cache'
import {
  askedSession,
  keyOf,
  NO_ENDPOINT,
  type Solver,
} from '../../../packages/protocol/src/solvers/solver.js'
import type { CircuitBreakerStore } from '../../store/solvers/circuit-breaker-store.js'
import type { Logger } from '../../telemetry/log.js'
import type { OpenPeriod } from './circuit-breaker.js'
import { createOpenPeriods } from './open-periods.js'
import { MAX_OPEN_SESSION_REQUESTS, RequestSlots } from './request-slots.js'
import { SolverHealth } from './solver-health.js'

/** The health of all solvers that this replica can ask. */
export interface SolverHealthRegistry {
  /**
   * @param solvers the reachable solvers of a chain, from the directory
   * @returns their health, in the same order. It stays when a solver changes between its endpoint and a session. At a new
   *   endpoint, a solver keeps only the open period and the losses of its breaker
   */
  of(chainId: number, solvers: readonly Solver[]): readonly SolverHealth[]
}

interface SolverHealthRegistryOptions {
  readonly store: CircuitBreakerStore
  readonly quoteTimeoutMs: number
  /** 0 for none. */
  readonly quoteSoftTimeoutMs: number
  readonly maxConnectionsPerSolver: number
  /** The clock of the solvers' health, in milliseconds; it never goes back. */
  readonly clock: () => number
  /** Unix time in milliseconds. */
  readonly now: () => number
  readonly log: Logger
}

/** One chain's solvers, and their health in the same order. */
interface ChainEntry {
  readonly solvers: readonly Solver[]
  readonly healths: readonly SolverHealth[]
}

/**
 * Builds the registry. Only the open periods of circuit breakers survive a restart: they keep quotes from waiting for
 * solvers that are known not to answer. Shares and latencies are measured again within a few quotes.
 */
export async function createSolverHealthRegistry(
  options: SolverHealthRegistryOptions,
): Promise<SolverHealthRegistry> {
  const { quoteTimeoutMs, quoteSoftTimeoutMs, maxConnectionsPerSolver, clock, log } = options
  const openPeriods = await createOpenPeriods(options)
  const chains = new Map<number, ChainEntry>()
  const disconnected = createDisconnectedHealth(clock)
  /** By the id of a session, or by an origin. */
  const slotsByConnection = new Map<string, RequestSlots>()

  /** Ignores a replaced health: it does not belong to the solver's current registration. */
  function onBreaker(health: SolverHealth, openPeriod: OpenPeriod | undefined): void {
    const { chainId, address } = health.solver
    if (!chains.get(chainId)?.healths.includes(health) && !disconnected.has(health)) return
    if (openPeriod === undefined)
      log.info({ chainId, solver: address }, 'a solver answers again: its circuit breaker closes')
    else
      log.warn(
        { chainId, solver: address, openMs: openPeriod.until - clock() },
        'a solver loses time: its circuit breaker opens, and no quote waits for it',
      )
    openPeriods.record(health.solver, openPeriod)
  }

  /** A solver's chains share its session. Solvers at one origin share its connections. */
  function slotsOf(solver: Solver): RequestSlots {
    const session = askedSession(solver)
    const limit = session === undefined ? maxConnectionsPerSolver : MAX_OPEN_SESSION_REQUESTS
    const connection = session?.id ?? new URL(solver.endpointUrl).origin
    const slots = slotsByConnection.get(connection) ?? new RequestSlots(limit)
    slotsByConnection.set(connection, slots)
    return slots
  }

  function removeUnusedSlots(): void {
    const used = new Set([...chains.values()].flatMap(({ healths }) => healths.map(({ slots }) => slots)))
    for (const [connection, slots] of slotsByConnection)
      if (!used.has(slots)) slotsByConnection.delete(connection)
  }

  function createHealth(solver: Solver, replaced: SolverHealth | undefined): SolverHealth {
    const health: SolverHealth = new SolverHealth(solver, {
      quoteTimeoutMs,
      quoteSoftTimeoutMs,
      slots: slotsOf(solver),
      ...openPeriods.initialState(solver, replaced),
      onBreaker: (openPeriod) => onBreaker(health, openPeriod),
    })
    return health
  }

  function update(chainId: number, solvers: readonly Solver[]): readonly SolverHealth[] {
    const before = new Map(chains.get(chainId)?.healths.map((health) => [health.solver.address, health]))
    const healths = solvers.map((solver) => {
      const health = before.get(solver.address) ?? disconnected.take(solver)
      before.delete(solver.address)
      if (health === undefined || hasMoved(health.solver, solver)) return createHealth(solver, health)
      if (health.solver !== solver) health.connect(solver, slotsOf(solver))
      return health
    })
    for (const health of before.values()) {
      if (health.solver.endpointUrl === NO_ENDPOINT) disconnected.keep(health)
      else openPeriods.keep(health)
    }
    chains.set(chainId, { solvers, healths })
    removeUnusedSlots()
    return healths
  }

  return {
    of(chainId, solvers) {
      const entry = chains.get(chainId)
      return entry?.solvers === solvers ? entry.healths : update(chainId, solvers)
    },
  }
}

/** Whether a solver is asked at another endpoint than before. */
function hasMoved(before: Solver, solver: Solver): boolean {
  if (askedSession(solver) !== undefined || before.endpointUrl === NO_ENDPOINT) return false
  return before.endpointUrl !== solver.endpointUrl
}

/**
 * Keeps the health of solvers without an endpoint while they are not connected. It belongs to the address, so that the next
 * session continues with it (docs/decisions.md, D18). An open period stays in the store meanwhile: a restart of the service
 * ends all sessions.
 */
interface DisconnectedHealth {
  keep(health: SolverHealth): void
  has(health: SolverHealth): boolean
  /** Takes the health of a solver that is reachable again; undefined when none is kept. */
  take(solver: Solver): SolverHealth | undefined
}

/** As long as the solver keeps its place. */
const KEPT_MS = 300_000
const MAX_KEPT = 1024

/** @param clock the clock of the solvers' health, in milliseconds; it never goes back */
function createDisconnectedHealth(clock: () => number): DisconnectedHealth {
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
