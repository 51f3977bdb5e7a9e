import { LRUCache } from 'lru-cache'
import { keyOf, type Solver } from '../domain/solver.js'
import type { CircuitBreakerStore, StoredOpenPeriod } from '../store/circuit-breaker-store.js'
import type { Logger } from '../telemetry/log.js'
import type { Metrics } from '../telemetry/metrics.js'
import { LONGEST_OPEN_MS, type OpenPeriod } from './circuit-breaker.js'
import { LossHistory } from './loss-history.js'
import { RequestSlots } from './request-slots.js'
import { SolverHealth } from './solver-health.js'

/** The health of all active solvers. */
export interface SolverHealthRegistry {
  /**
   * @param solvers the active solvers of a chain, from the registry
   * @returns their health, in the same order; a solver at a new endpoint keeps only the open period of its breaker
   */
  of(chainId: number, solvers: readonly Solver[]): readonly SolverHealth[]
  /**
   * Adds the health of solvers to the metrics.
   * @param active the active solvers of each chain
   * @param connectionsOf the number of open connections to a solver
   */
  collectMetrics(
    active: ReadonlyMap<number, readonly Solver[]>,
    connectionsOf: (solver: Solver) => number,
  ): void
}

interface SolverHealthRegistryOptions {
  readonly store: CircuitBreakerStore
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

/** The state of a solver's circuit breaker before the solver changes its endpoint or leaves. */
interface Past {
  readonly openPeriod: OpenPeriod | undefined
  readonly history: LossHistory
}

/** How long the state of a solver that has left is kept. */
const AWAY_MS = LONGEST_OPEN_MS
/** The most solvers whose states are kept. */
const MAX_PASTS = 1024

/**
 * Builds the registry. Only the open periods of circuit breakers survive a restart: they keep quotes from waiting for
 * solvers that are known not to answer. Shares and latencies are measured again within a few quotes.
 */
export async function createSolverHealthRegistry(
  options: SolverHealthRegistryOptions,
): Promise<SolverHealthRegistry> {
  const { store, quoteTimeoutMs, maxConnectionsPerSolver, clock, now, metrics, log } = options
  const chains = new Map<number, ChainEntry>()
  const slotsByOrigin = new Map<string, RequestSlots>()
  /** Circuit breakers of solvers that have left, by solver, as they were at that time. */
  const away = new LRUCache<string, Past & { readonly leftAt: number }>({ max: MAX_PASTS })
  const storedPeriods = new Map((await store.readAll()).map((openPeriod) => [keyOf(openPeriod), openPeriod]))

  function keep(writing: Promise<void>): void {
    writing.catch((error) => log.error({ err: error }, 'the state of a circuit breaker could not be stored'))
  }

  /** Ignores a replaced health: it does not belong to the solver's current registration. */
  function recordOpenPeriod(health: SolverHealth, openPeriod: OpenPeriod | undefined): void {
    const { chainId, address } = health.solver
    if (!chains.get(chainId)?.healths.includes(health)) return
    if (openPeriod === undefined) {
      log.info({ chainId, solver: address }, 'a solver answers again: its circuit breaker closes')
      keep(store.remove({ chainId, address }))
      return
    }
    const openMs = openPeriod.until - clock()
    log.warn(
      { chainId, solver: address, openMs },
      'a solver loses time: its circuit breaker opens, and no quote waits for it',
    )
    save(health.solver, openPeriod)
  }

  function save({ chainId, address, endpointUrl }: Solver, { level, until }: OpenPeriod): void {
    keep(store.save({ chainId, address, endpointUrl, level, until: now() + until - clock() }))
  }

  /** The state that a solver begins with: its open period before a restart, or the state of its other endpoint. */
  function takePast(solver: Solver, replaced: SolverHealth | undefined): Past | undefined {
    const key = keyOf(solver)
    const stored = storedPeriods.get(key)
    storedPeriods.delete(key)
    if (stored?.endpointUrl === solver.endpointUrl)
      return { openPeriod: toOpenPeriod(stored), history: new LossHistory() }
    if (stored !== undefined) return startElsewhere(solver, toOpenPeriod(stored), new LossHistory())
    const past = replaced === undefined ? recallAway(key) : pastOf(replaced)
    if (past?.openPeriod === undefined) return past
    return startElsewhere(solver, past.openPeriod, past.history)
  }

  /** Continues an open period at another endpoint, or allows an early trial there. */
  function startElsewhere(solver: Solver, { level, until }: OpenPeriod, history: LossHistory): Past {
    const isEarly = until > clock() && history.takeEarlyTrial(clock())
    const openPeriod = { level, until: isEarly ? clock() : until }
    save(solver, openPeriod)
    return { openPeriod, history }
  }

  function pastOf(health: SolverHealth): Past {
    return { openPeriod: health.openPeriodElsewhere(clock()), history: health.lossHistory }
  }

  function recallAway(key: string): Past | undefined {
    const past = away.get(key)
    away.delete(key)
    return past !== undefined && clock() - past.leftAt <= AWAY_MS ? past : undefined
  }

  function recordAway(health: SolverHealth): void {
    const past = pastOf(health)
    // Solvers without a past must not evict others.
    if (past.openPeriod !== undefined || past.history.count > 0)
      away.set(keyOf(health.solver), { ...past, leftAt: clock() })
    if (health.isOpen) keep(store.remove(health.solver))
  }

  /** The wall clock may have been set back since. */
  function toOpenPeriod({ level, until }: StoredOpenPeriod): OpenPeriod {
    return { level, until: clock() + Math.min(until - now(), LONGEST_OPEN_MS) }
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

  function createHealth(solver: Solver, replaced: SolverHealth | undefined): SolverHealth {
    const health: SolverHealth = new SolverHealth(solver, {
      quoteTimeoutMs,
      slots: slotsOf(solver),
      ...takePast(solver, replaced),
      onBreaker: (openPeriod) => recordOpenPeriod(health, openPeriod),
    })
    return health
  }

  function update(chainId: number, solvers: readonly Solver[]): readonly SolverHealth[] {
    const before = new Map(chains.get(chainId)?.healths.map((health) => [health.solver.address, health]))
    const healths = solvers.map((solver) => {
      const health = before.get(solver.address)
      before.delete(solver.address)
      if (health?.solver.endpointUrl !== solver.endpointUrl) return createHealth(solver, health)
      health.solver = solver
      return health
    })
    for (const health of before.values()) recordAway(health)
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
      const { solverCircuitOpen, solverValidShare, solverUsualSeconds, solverConnections, solverWaiting } =
        metrics
      const gauges = [
        solverCircuitOpen,
        solverValidShare,
        solverUsualSeconds,
        solverConnections,
        solverWaiting,
      ]
      for (const gauge of gauges) gauge.reset()
      for (const [chainId, solvers] of active) {
        for (const health of of(chainId, solvers)) {
          const labels = { chain_id: chainId, solver: health.solver.address }
          solverCircuitOpen.set(labels, Number(health.isOpen))
          solverValidShare.set(labels, health.validShare)
          solverConnections.set(labels, connectionsOf(health.solver))
          solverWaiting.set(labels, health.slots.waiting)
          if (health.usualMs !== undefined) solverUsualSeconds.set(labels, health.usualMs / 1000)
        }
      }
    },
  }
}
