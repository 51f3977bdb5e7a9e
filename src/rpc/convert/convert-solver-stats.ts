import type { MessageInitShape } from '@bufbuild/protobuf'
import type { SolverHourSchema, SolverStatsSchema } from '../../../gen/aggregator/v1/solver_stats_pb.js'
import type { SolverKey } from '../../domain/solvers/solver.js'
import { askedOf, fillRateOf, type SolverSummary } from '../../domain/solvers/solver-statistics.js'
import { toCachedChecksumAddress } from '../../signing/checksum.js'
import { type SolverStateSources, toStateFields } from './convert-solver-state.js'

/** The message of a solver's statistics. @param name undefined when the solver is not registered */
export function toSolverStatsMessage(
  key: SolverKey,
  name: string | undefined,
  counts: SolverSummary,
  sources: SolverStateSources,
): MessageInitShape<typeof SolverStatsSchema> {
  return {
    solver: toCachedChecksumAddress(key.address),
    name,
    ...toCountFields(counts),
    fillRate: fillRateOf(counts),
    ...toStateFields(key, sources),
  }
}

/** The message of an hour. @param hour Unix time in whole hours */
export function toSolverHourMessage(
  hour: number,
  counts: SolverSummary,
): MessageInitShape<typeof SolverHourSchema> {
  return { start: BigInt(hour) * 3600n, ...toCountFields(counts) }
}

function toCountFields(counts: SolverSummary) {
  return {
    asked: BigInt(askedOf(counts)),
    quoted: BigInt(counts.quoted),
    declined: BigInt(counts.declined),
    invalid: BigInt(counts.invalid),
    failed: BigInt(counts.failed),
    late: BigInt(counts.late),
    softDeadline: BigInt(counts.soft_deadline),
    won: BigInt(counts.won),
    wonAlone: BigInt(counts.won_alone),
    deposited: BigInt(counts.deposited),
    settled: BigInt(counts.settled),
    refunded: BigInt(counts.refunded),
    medianResponseMs: counts.medianResponseMs,
    p95ResponseMs: counts.p95ResponseMs,
  }
}
