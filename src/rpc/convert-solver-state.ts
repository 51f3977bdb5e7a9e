import type { MessageInitShape } from '@bufbuild/protobuf'
import { CircuitBreakerState, type CoolDownSchema } from '../../gen/aggregator/v1/solver_stats_pb.js'
import type { CoolDown } from '../domain/cool-down.js'
import type { SolverKey } from '../domain/solver.js'
import type { Quoting } from '../quoting/quoting.js'
import type { CircuitState } from '../solvers/circuit-breaker.js'
import type { CoolDowns } from '../solvers/cool-downs.js'
import type { FreeBonds } from '../solvers/free-bonds.js'

/** Where the circuit breaker, the cool-down and the bond of a solver come from. */
export interface SolverStateSources {
  readonly circuitStateOf: Quoting['circuitStateOf']
  readonly coolDowns: Pick<CoolDowns, 'of'>
  readonly freeBonds: Pick<FreeBonds, 'of' | 'totalOf'>
}

const CIRCUIT_STATES: Readonly<Record<CircuitState, CircuitBreakerState>> = {
  closed: CircuitBreakerState.CLOSED,
  open: CircuitBreakerState.OPEN,
  'half-open': CircuitBreakerState.HALF_OPEN,
}

/** The fields of a message for how the instance treats a solver now: its circuit breaker, cool-down and bond. */
export function toStateFields(key: SolverKey, { circuitStateOf, coolDowns, freeBonds }: SolverStateSources) {
  return {
    totalBond: freeBonds.totalOf(key)?.toString(),
    freeBond: freeBonds.of(key)?.toString(),
    circuitBreaker: CIRCUIT_STATES[circuitStateOf(key)],
    coolDown: toCoolDownMessage(coolDowns.of(key)),
  }
}

function toCoolDownMessage(
  coolDown: CoolDown | undefined,
): MessageInitShape<typeof CoolDownSchema> | undefined {
  return coolDown && { until: BigInt(coolDown.until), level: coolDown.level }
}
