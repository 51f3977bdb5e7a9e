import type { MessageInitShape } from '@bufbuild/protobuf'
import {
  CircuitBreakerState,
  type CoolDownSchema,
  NotAskedReason,
} from '../../../gen/aggregator/v1/solver_stats_pb.js'
import type { CoolDown } from '../../domain/solvers/cool-down.js'
import type { SolverKey } from '../../domain/solvers/solver.js'
import type { Quoting } from '../../quoting/quoting.js'
import type { FreeBonds } from '../../solvers/bonds/free-bonds.js'
import type { CircuitState } from '../../solvers/conduct/circuit-breaker.js'
import type { CoolDowns } from '../../solvers/conduct/cool-downs.js'
import type { SolverDirectory } from '../../solvers/registry/solver-directory.js'

/** Where the registration, the circuit breaker, the cool-down and the bond of a solver come from. */
export interface SolverStateSources {
  readonly directory: Pick<SolverDirectory, 'find' | 'active'>
  readonly circuitStateOf: Quoting['circuitStateOf']
  readonly coolDowns: Pick<CoolDowns, 'of'>
  readonly freeBonds: Pick<FreeBonds, 'of' | 'totalOf'>
}

const CIRCUIT_STATES: Readonly<Record<CircuitState, CircuitBreakerState>> = {
  closed: CircuitBreakerState.CLOSED,
  open: CircuitBreakerState.OPEN,
  'half-open': CircuitBreakerState.HALF_OPEN,
}

/** The fields of a message for how the instance treats a solver now: whether it is asked, its circuit breaker, cool-down and bond. */
export function toStateFields(key: SolverKey, sources: SolverStateSources) {
  const { circuitStateOf, coolDowns, freeBonds } = sources
  return {
    totalBond: freeBonds.totalOf(key)?.toString(),
    freeBond: freeBonds.of(key)?.toString(),
    notAsked: notAskedReasonOf(key, sources),
    circuitBreaker: CIRCUIT_STATES[circuitStateOf(key)],
    coolDown: toCoolDownMessage(coolDowns.of(key)),
  }
}

/** Undefined when quotes ask the solver. */
function notAskedReasonOf(
  key: SolverKey,
  { directory, circuitStateOf, coolDowns }: SolverStateSources,
): NotAskedReason | undefined {
  const solver = directory.find(key)
  if (solver === undefined) return NotAskedReason.NOT_REGISTERED
  if (!solver.isBonded) return NotAskedReason.BOND_TOO_SMALL
  if (!directory.active(key.chainId).includes(solver)) return NotAskedReason.NOT_CONNECTED
  if (coolDowns.of(key) !== undefined) return NotAskedReason.COOL_DOWN
  return circuitStateOf(key) === 'open' ? NotAskedReason.CIRCUIT_OPEN : undefined
}

function toCoolDownMessage(
  coolDown: CoolDown | undefined,
): MessageInitShape<typeof CoolDownSchema> | undefined {
  return coolDown && { until: BigInt(coolDown.until), level: coolDown.level }
}
