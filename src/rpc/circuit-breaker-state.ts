import { CircuitBreakerState } from '../../gen/aggregator/v1/solver_stats_pb.js'
import type { SolverHealth } from '../solvers/solver-health.js'

const STATES = {
  closed: CircuitBreakerState.CLOSED,
  open: CircuitBreakerState.OPEN,
  'half-open': CircuitBreakerState.HALF_OPEN,
} as const

/**
 * The state of a solver's circuit breaker in the proto.
 * @param health undefined for a solver that this replica does not ask: its breaker is closed
 * @param now on the clock of the solvers' health
 */
export function toCircuitBreakerState(
  health: Pick<SolverHealth, 'circuitState'> | undefined,
  now: number,
): CircuitBreakerState {
  return STATES[health?.circuitState(now) ?? 'closed']
}
