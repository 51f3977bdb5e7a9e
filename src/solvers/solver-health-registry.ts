import type { Solver, SolverKey } from '../domain/solver.js'
import type { BenchStore, StoredTerm } from '../store/bench-store.js'
import type { Logger } from '../telemetry/log.js'
import type { Metrics } from '../telemetry/metrics.js'
import { LONGEST_TERM_MS, type OpenTerm } from './circuit-breaker.js'
import { RequestSlots } from './request-slots.js'
import { SolverHealth } from './solver-health.js'

/** The health of all active solvers. */
export interface SolverHealthRegistry {
  /**
   * @param solvers the active solvers of a chain, as the registry gives them
   * @returns their health, in the same order; a solver at a new endpoint begins without a past
   */
  of(chainId: number, solvers: readonly Solver[]): readonly SolverHealth[]
  /**
   * Puts the health of solvers into the metrics.
   * @param active the active solvers of each chain
   * @param connectionsOf how many connections to a solver are open
   */
  collectMetrics(
    active: ReadonlyMap<number, readonly Solver[]>,
    connectionsOf: (solver: Solver) => number,
  ): void
}

interface SolverHealthRegistryOptions {
  readonly store: BenchStore
  readonly quoteTimeoutMs: number
  readonly maxConnectionsPerSolver: number
  /** The clock of the solvers' health, in milliseconds; it never goes back. */
  readonly clock: () => number
  /** Unix time in milliseconds. */
  readonly now: () => number
  readonly metrics: Metrics
  readonly log: Logger
}

/** One chain's solvers, and their health in the same order. */
interface ChainEntry {
  readonly solvers: readonly Solver[]
  readonly healths: readonly SolverHealth[]
}

/**
 * Builds the registry. Only the terms of open circuit breakers survive a restart: they keep quotes from waiting for
 * solvers that are known to be gone. Shares and latencies are learned again within a few quotes.
 */
export async function createSolverHealthRegistry(
  options: SolverHealthRegistryOptions,
): Promise<SolverHealthRegistry> {
  const { store, quoteTimeoutMs, maxConnectionsPerSolver, clock, now, metrics, log } = options
  const chains = new Map<number, ChainEntry>()
  const slotsByOrigin = new Map<string, RequestSlots>()
  const storedTerms = new Map((await store.readAll()).map((term) => [keyOf(term), term]))

  function keep(writing: Promise<void>): void {
    writing.catch((error) => log.error({ err: error }, 'the state of a circuit breaker could not be stored'))
  }

  /** A replaced health has nothing to do with the solver as it is registered now. */
  function noteTerm(health: SolverHealth, term: OpenTerm | undefined): void {
    const { chainId, address, endpointUrl } = health.solver
    if (!chains.get(chainId)?.healths.includes(health)) return
    if (term === undefined) {
      log.info({ chainId, solver: address }, 'a solver answers again: its circuit breaker closes')
      keep(store.remove({ chainId, address }))
      return
    }
    const termMs = term.until - clock()
    log.warn(
      { chainId, solver: address, termMs },
      'a solver loses time: its circuit breaker opens, and no quote waits for it',
    )
    keep(store.save({ chainId, address, endpointUrl, level: term.level, until: now() + termMs }))
  }

  /** A term from before the restart, on the clock of this process; it holds for the endpoint of then only. */
  function takeStoredTerm(solver: Solver): OpenTerm | undefined {
    const stored = storedTerms.get(keyOf(solver))
    if (stored === undefined) return undefined
    storedTerms.delete(keyOf(solver))
    if (stored.endpointUrl === solver.endpointUrl) return toTerm(stored)
    keep(store.remove(solver))
    return undefined
  }

  /** The wall clock may have been put back meanwhile. */
  function toTerm({ level, until }: StoredTerm): OpenTerm {
    return { level, until: clock() + Math.min(until - now(), LONGEST_TERM_MS) }
  }

  /** Solvers at one origin share its connections. */
  function slotsOf({ endpointUrl }: Solver): RequestSlots {
    const { origin } = new URL(endpointUrl)
    const slots = slotsByOrigin.get(origin) ?? new RequestSlots(maxConnectionsPerSolver)
    slotsByOrigin.set(origin, slots)
    return slots
  }

  function forgetUnusedSlots(): void {
    const used = new Set([...chains.values()].flatMap(({ healths }) => healths.map(({ slots }) => slots)))
    for (const [origin, slots] of slotsByOrigin) if (!used.has(slots)) slotsByOrigin.delete(origin)
  }

  function createHealth(solver: Solver): SolverHealth {
    const health: SolverHealth = new SolverHealth(solver, {
      quoteTimeoutMs,
      slots: slotsOf(solver),
      term: takeStoredTerm(solver),
      onBreaker: (term) => noteTerm(health, term),
    })
    return health
  }

  function update(chainId: number, solvers: readonly Solver[]): readonly SolverHealth[] {
    const before = new Map(chains.get(chainId)?.healths.map((health) => [health.solver.address, health]))
    const healths = solvers.map((solver) => {
      const health = before.get(solver.address)
      if (health === undefined || health.solver.endpointUrl !== solver.endpointUrl)
        return createHealth(solver)
      before.delete(solver.address)
      health.solver = solver
      return health
    })
    for (const { solver, isOpen } of before.values()) if (isOpen) keep(store.remove(solver))
    chains.set(chainId, { solvers, healths })
    forgetUnusedSlots()
    return healths
  }

  function of(chainId: number, solvers: readonly Solver[]): readonly SolverHealth[] {
    const entry = chains.get(chainId)
    return entry?.solvers === solvers ? entry.healths : update(chainId, solvers)
  }

  return {
    of,
    collectMetrics(active, connectionsOf) {
      const { solverBenched, solverValidShare, solverUsualSeconds, solverConnections, solverWaiting } =
        metrics
      const gauges = [solverBenched, solverValidShare, solverUsualSeconds, solverConnections, solverWaiting]
      for (const gauge of gauges) gauge.reset()
      for (const [chainId, solvers] of active) {
        for (const health of of(chainId, solvers)) {
          const labels = { chain_id: chainId, solver: health.solver.address }
          solverBenched.set(labels, Number(health.isOpen))
          solverValidShare.set(labels, health.validShare)
          solverConnections.set(labels, connectionsOf(health.solver))
          solverWaiting.set(labels, health.slots.waiting)
          if (health.usualMs !== undefined) solverUsualSeconds.set(labels, health.usualMs / 1000)
        }
      }
    },
  }
}

function keyOf({ chainId, address }: SolverKey): string {
  return `${chainId} ${address}`
}
