import type { Address } from 'viem'
import { STATS_WINDOW } from '../../../protocol/src/field-rules.js'
import type { StatsWindow } from '../../../protocol/src/solvers/solver-statistics.js'
import {
  listOf,
  messageReader,
  optional,
  type Readers,
  readAddress,
  readEnum,
  readInteger,
  readList,
  readMessage,
  readShare,
  readText,
  readUint256,
} from '../calls/answer-fields.js'
import { optionProblem } from '../calls/check-arguments.js'
import type { Messages, UnknownText } from '../calls/message-types.js'
import { checkParams, toQuery } from '../calls/request-path.js'

/** What a solver did in some time. Requests for prices and cancelled requests are in no count. */
export interface SolverCounts {
  /** Requests for a quote: the sum of the next six counts. */
  readonly asked: number
  readonly quoted: number
  readonly declined: number
  readonly invalid: number
  readonly failed: number
  readonly late: number
  /** Cut off by the instance's rule, when others had made offers. */
  readonly softDeadline: number
  /** Offers that were the best of their quote. */
  readonly won: number
  /** Offers that were the only valid ones of their quote. */
  readonly wonAlone: number
  /** Orders. */
  readonly deposited: number
  readonly settled: number
  readonly refunded: number
  /** Milliseconds; undefined without a response. */
  readonly medianResponseMs: number | undefined
  readonly p95ResponseMs: number | undefined
}

/** How an instance treats a solver now. */
export interface SolverState {
  /** The bond in the bond token's smallest unit; undefined while the instance has not read it. */
  readonly totalBond: bigint | undefined
  /** The part of it that is neither reserved nor unstaking. */
  readonly freeBond: bigint | undefined
  /** Why quotes do not ask the solver at present; undefined when they do. */
  readonly notAsked: Messages['SolverStats']['notAsked'] | UnknownText
  /** Whether quotes ask the solver: when CLOSED, they do. */
  readonly circuitBreaker: Messages['SolverStats']['circuitBreaker'] | UnknownText
}

/** The sums of a window, and the state of the solver now. */
export interface SolverStats extends SolverCounts, SolverState {
  readonly solver: Address
  /** Empty when the solver is no longer registered. */
  readonly name: string
  /** The share of its orders that the solver has filled, of those that have ended, from 0 to 1; undefined without one. */
  readonly fillRate: number | undefined
}

/** The counts of one hour. */
export interface SolverHour extends SolverCounts {
  /** Unix time in seconds. */
  readonly start: number
}

/** The statistics of one solver. */
export interface SolverStatsByHour {
  readonly stats: SolverStats
  /** The hours of the window that have counts, the oldest first. */
  readonly hours: readonly SolverHour[]
}

export interface SolverStatsParams {
  /** The hours before the current one; 24h when left out. */
  readonly window?: StatsWindow | undefined
}

/** The query of a window. @throws AggregatorError INVALID_ARGUMENT */
export function toWindowQuery(params: SolverStatsParams): string {
  checkParams(params, { window: (value) => optionProblem(STATS_WINDOW, value) })
  return toQuery(params)
}

/** The readers of what a solver did in some time. */
const COUNTS: Readers<SolverCounts> = {
  asked: readInteger,
  quoted: readInteger,
  declined: readInteger,
  invalid: readInteger,
  failed: readInteger,
  late: readInteger,
  softDeadline: readInteger,
  won: readInteger,
  wonAlone: readInteger,
  deposited: readInteger,
  settled: readInteger,
  refunded: readInteger,
  medianResponseMs: optional(readInteger),
  p95ResponseMs: optional(readInteger),
}

/** The readers of the state of a solver. */
export const SOLVER_STATE: Readers<SolverState> = {
  totalBond: optional(readUint256),
  freeBond: optional(readUint256),
  notAsked: optional(readEnum) as () => SolverState['notAsked'],
  circuitBreaker: readEnum,
}

const readSolverStats = messageReader<'SolverStats', SolverStats>({
  solver: readAddress,
  name: readText,
  ...COUNTS,
  fillRate: optional(readShare),
  ...SOLVER_STATE,
})

const readSolverHour = messageReader<'SolverHour', SolverHour>({ start: readInteger, ...COUNTS })

/** Reads the statistics of a chain's solvers. @throws UnreadableAnswer */
export function readSolverStatsList(answer: unknown): SolverStats[] {
  return readList(readMessage<'ListSolverStatsResponse'>(answer).solvers).map(readSolverStats)
}

/** Reads the statistics of a solver. @throws UnreadableAnswer */
export const readSolverStatsByHour = messageReader<'GetSolverStatsResponse', SolverStatsByHour>({
  stats: readSolverStats,
  hours: listOf(readSolverHour),
})
