import type { MessageInitShape } from '@bufbuild/protobuf'
import { SolverService } from '../../../gen/aggregator/v1/solver_pb.js'
import {
  CircuitBreakerState,
  NotAskedReason,
  type SolverHourSchema,
  type SolverStatsSchema,
} from '../../../gen/aggregator/v1/solver_stats_pb.js'
import { ServiceError } from '../../../packages/protocol/src/errors.js'
import { toCachedChecksumAddress } from '../../../packages/protocol/src/signing/typed-data.js'
import type { SolverKey } from '../../../packages/protocol/src/solvers/solver.js'
import {
  askedOf,
  fillRateOf,
  noSolverCounts,
  type SolverSummary,
  summarize,
  WINDOW_HOURS,
} from '../../../packages/protocol/src/solvers/solver-statistics.js'
import type { Address } from '../../../packages/protocol/src/values/hex.js'
import type { CircuitState } from '../../standing/circuit-breaker.js'
import { toUpperCase } from '../convert/enum-words.js'
import { type Method, unaryMethod } from '../method.js'
import type { ServiceContext } from './context.js'

const NO_COUNTS = summarize(noSolverCounts())

/** The methods of SolverService that answer with statistics (docs/decisions.md, D20). */
export function createSolverStatsMethods(context: ServiceContext): Method[] {
  const { statistics, directory } = context

  const toMessage = (key: SolverKey, counts: SolverSummary) =>
    toSolverStatsMessage(key, directory.find(key)?.name, counts, context)

  const listSolverStats = unaryMethod(SolverService.method.listSolverStats, {
    limit: 'solvers',
    read: (message, fields) => ({
      chainId: Number(message.chainId),
      window: fields.statsWindow('window', message.window),
    }),
    async handle({ chainId, window }) {
      const counts = await statistics.bySolver(chainId, WINDOW_HOURS[window])
      const registered = directory.registered(chainId).map(({ address }) => address)
      const known = [...new Set<Address>([...registered, ...[...counts.keys()].sort()])]
      const summaries = known.map((address) => ({ address, counted: counts.get(address) ?? NO_COUNTS }))
      // Only settled orders cost something to fake.
      summaries.sort((one, other) => other.counted.settled - one.counted.settled)
      return {
        window,
        solvers: summaries.map(({ address, counted }) => toMessage({ chainId, address }, counted)),
      }
    },
  })

  const getSolverStats = unaryMethod(SolverService.method.getSolverStats, {
    limit: 'solvers',
    read: (message, fields) => ({
      chainId: Number(message.chainId),
      address: fields.address('address', message.address),
      window: fields.statsWindow('window', message.window),
    }),
    async handle({ window, ...key }) {
      const { hours, total } = await statistics.byHour(key, WINDOW_HOURS[window])
      if (hours.size === 0 && directory.find(key) === undefined)
        throw new ServiceError(
          'SOLVER_NOT_FOUND',
          'This solver is not registered on this chain, and has no counts in the window.',
        )
      return {
        window,
        stats: toMessage(key, total),
        hours: [...hours].map(([hour, counts]) => toSolverHourMessage(hour, counts)),
      }
    },
  })

  return [listSolverStats, getSolverStats]
}

/** The message of a solver's statistics. @param name undefined when the solver is not registered */
function toSolverStatsMessage(
  key: SolverKey,
  name: string | undefined,
  counts: SolverSummary,
  context: ServiceContext,
): MessageInitShape<typeof SolverStatsSchema> {
  return {
    solver: toCachedChecksumAddress(key.address),
    name,
    ...toCountFields(counts),
    fillRate: fillRateOf(counts),
    ...toStateFields(key, context),
    unreachable: context.auction.isUnreachable(key),
  }
}

/** The message of an hour. @param hour Unix time in whole hours */
function toSolverHourMessage(hour: number, counts: SolverSummary): MessageInitShape<typeof SolverHourSchema> {
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

const CIRCUIT_STATES: Readonly<Record<CircuitState, CircuitBreakerState>> = {
  closed: CircuitBreakerState.CLOSED,
  open: CircuitBreakerState.OPEN,
  'half-open': CircuitBreakerState.HALF_OPEN,
}

/** The fields of a message for how the instance treats a solver now: whether it is asked, its circuit breaker and bond. */
export function toStateFields(key: SolverKey, context: ServiceContext) {
  const { auction, freeBonds } = context
  return {
    totalBond: freeBonds.totalOf(key)?.toString(),
    freeBond: freeBonds.of(key)?.toString(),
    notAsked: notAskedReasonOf(key, context),
    circuitBreaker: CIRCUIT_STATES[auction.circuitStateOf(key)],
  }
}

/** Undefined when quotes ask the solver. */
function notAskedReasonOf(
  key: SolverKey,
  { directory, auction }: ServiceContext,
): NotAskedReason | undefined {
  const solver = directory.find(key)
  if (solver === undefined) return NotAskedReason.NOT_REGISTERED
  if (!solver.isBonded) return NotAskedReason.BOND_TOO_SMALL
  const isActive = directory.active(key.chainId).some(({ address }) => address === key.address)
  if (!isActive) return NotAskedReason.NOT_CONNECTED
  const reason = auction.notAskedReason(key)
  return reason && NotAskedReason[toUpperCase(reason)]
}
