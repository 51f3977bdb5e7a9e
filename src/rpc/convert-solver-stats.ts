import type { MessageInitShape } from '@bufbuild/protobuf'
import {
  CircuitBreakerState,
  type SolverHourSchema,
  type SolverStatsSchema,
} from '../../gen/aggregator/v1/solver_stats_pb.js'
import type { CoolDown } from '../domain/cool-down.js'
import type { Address } from '../domain/hex.js'
import { responseTimeWithin } from '../domain/response-times.js'
import { askedOf, fillRateOf, type SolverCounts } from '../domain/solver-statistics.js'
import { toCachedChecksumAddress } from '../signing/checksum.js'
import type { CircuitState } from '../solvers/circuit-breaker.js'

/** What the statistics of a solver have beyond its counts: its state now. */
export interface SolverState {
  readonly address: Address
  /** Undefined when the solver is not registered. */
  readonly name: string | undefined
  /** In the bond token's smallest unit; undefined until it has been read. */
  readonly totalBond: bigint | undefined
  readonly freeBond: bigint | undefined
  readonly circuit: CircuitState
  /** Undefined while there is none. */
  readonly coolDown: CoolDown | undefined
}

const CIRCUIT_STATES: Readonly<Record<CircuitState, CircuitBreakerState>> = {
  closed: CircuitBreakerState.CLOSED,
  open: CircuitBreakerState.OPEN,
  'half-open': CircuitBreakerState.HALF_OPEN,
}

/** The message of a solver's statistics. */
export function toSolverStatsMessage(
  solver: SolverState,
  counts: SolverCounts,
): MessageInitShape<typeof SolverStatsSchema> {
  return {
    solver: toCachedChecksumAddress(solver.address),
    name: solver.name,
    ...toCountFields(counts),
    fillRate: fillRateOf(counts),
    totalBond: solver.totalBond?.toString(),
    freeBond: solver.freeBond?.toString(),
    circuitBreaker: CIRCUIT_STATES[solver.circuit],
    coolDown: solver.coolDown && { until: BigInt(solver.coolDown.until), level: solver.coolDown.level },
  }
}

/** The message of an hour. @param hour Unix time in whole hours */
export function toSolverHourMessage(
  hour: number,
  counts: SolverCounts,
): MessageInitShape<typeof SolverHourSchema> {
  return { start: BigInt(hour) * 3600n, ...toCountFields(counts) }
}

function toCountFields(counts: SolverCounts) {
  return {
    asked: BigInt(askedOf(counts)),
    quoted: BigInt(counts.quoted),
    declined: BigInt(counts.declined),
    invalid: BigInt(counts.invalid),
    failed: BigInt(counts.failed),
    late: BigInt(counts.late),
    won: BigInt(counts.won),
    deposited: BigInt(counts.deposited),
    settled: BigInt(counts.settled),
    refunded: BigInt(counts.refunded),
    medianResponseMs: responseTimeWithin(counts.responseTimes, 0.5),
    p95ResponseMs: responseTimeWithin(counts.responseTimes, 0.95),
  }
}
