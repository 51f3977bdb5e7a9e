import { LRUCache } from 'lru-cache'
import { keyOf, type Solver } from '../../../packages/protocol/src/solvers/solver.js'
import type { CircuitBreakerStore, StoredOpenPeriod } from '../../store/solvers/circuit-breaker-store.js'
import type { Logger } from '../../telemetry/log.js'
import { LONGEST_OPEN_MS, LossHistory, type OpenPeriod } from './circuit-breaker.js'
import type { SolverHealth } from './solver-health.js'

/**
 * Keeps the open periods of circuit breakers, in the store and while a solver is not active. So a solver escapes its open
 * period neither by a restart of the service, nor by another endpoint, nor by a new registration.
 */
interface OpenPeriods {
  /** Stores a new open period, or removes the stored one when the breaker has closed. */
  record(solver: Solver, openPeriod: OpenPeriod | undefined): void
  /**
   * The state that a solver's health begins with.
   * @param replaced its health at another endpoint
   */
  initialState(solver: Solver, replaced: SolverHealth | undefined): BreakerState | undefined
  /** Keeps the state of a solver that is no longer active. */
  keep(health: SolverHealth): void
}

/** The state of a circuit breaker that another health of the same solver begins with. */
interface BreakerState {
  readonly openPeriod: OpenPeriod | undefined
  readonly history: LossHistory
}

interface OpenPeriodsOptions {
  readonly store: CircuitBreakerStore
  /** The clock of the solvers' health, in milliseconds; it never goes back. */
  readonly clock: () => number
  /** Unix time in milliseconds. */
  readonly now: () => number
  readonly log: Logger
}

/** How long the state of an inactive solver is kept. */
const INACTIVE_MS = LONGEST_OPEN_MS
/** The most inactive solvers whose states are kept. */
const MAX_INACTIVE = 1024

/** Builds the open periods from the store. */
export async function createOpenPeriods({
  store,
  clock,
  now,
  log,
}: OpenPeriodsOptions): Promise<OpenPeriods> {
  /** Those from before the start, until their solvers are active. */
  const stored = new Map((await store.readAll()).map((openPeriod) => [keyOf(openPeriod), openPeriod]))
  const inactive = new LRUCache<string, BreakerState & { readonly leftAt: number }>({ max: MAX_INACTIVE })

  function logFailure(writing: Promise<void>): void {
    writing.catch((error) => log.error({ err: error }, 'the state of a circuit breaker could not be stored'))
  }

  function save({ chainId, address, endpointUrl }: Solver, { level, until }: OpenPeriod): void {
    logFailure(store.save({ chainId, address, endpointUrl, level, until: now() + until - clock() }))
  }

  /** The wall clock may have been set back since. */
  function toOpenPeriod({ level, until }: StoredOpenPeriod): OpenPeriod {
    return { level, until: clock() + Math.min(until - now(), LONGEST_OPEN_MS) }
  }

  function stateOf(health: SolverHealth): BreakerState {
    return { openPeriod: health.openPeriodElsewhere(clock()), history: health.lossHistory }
  }

  function takeInactive(key: string): BreakerState | undefined {
    const state = inactive.get(key)
    inactive.delete(key)
    return state !== undefined && clock() - state.leftAt <= INACTIVE_MS ? state : undefined
  }

  /** Continues an open period at another endpoint, or allows an early trial there. */
  function startElsewhere(solver: Solver, { level, until }: OpenPeriod, history: LossHistory): BreakerState {
    const isEarly = until > clock() && history.takeEarlyTrial(clock())
    const openPeriod = { level, until: isEarly ? clock() : until }
    save(solver, openPeriod)
    return { openPeriod, history }
  }

  return {
    record(solver, openPeriod) {
      if (openPeriod === undefined) logFailure(store.remove(solver))
      else save(solver, openPeriod)
    },
    initialState(solver, replaced) {
      const key = keyOf(solver)
      const before = stored.get(key)
      stored.delete(key)
      if (before?.endpointUrl === solver.endpointUrl)
        return { openPeriod: toOpenPeriod(before), history: new LossHistory() }
      if (before !== undefined) return startElsewhere(solver, toOpenPeriod(before), new LossHistory())
      const state = replaced === undefined ? takeInactive(key) : stateOf(replaced)
      if (state?.openPeriod === undefined) return state
      return startElsewhere(solver, state.openPeriod, state.history)
    },
    keep(health) {
      const state = stateOf(health)
      // Solvers without a history must not evict others.
      if (state.openPeriod !== undefined || state.history.count > 0)
        inactive.set(keyOf(health.solver), { ...state, leftAt: clock() })
      if (health.isOpen) logFailure(store.remove(health.solver))
    },
  }
}
