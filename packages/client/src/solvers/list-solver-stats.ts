import { STATS_WINDOW } from '../../../protocol/src/field-rules.js'
import type { StatsWindow } from '../../../protocol/src/solvers/solver-statistics.js'
import {
  listOf,
  messageReader,
  optional,
  type ReadBy,
  type Readers,
  readAddress,
  readBoolean,
  readEnum,
  readInteger,
  readList,
  readMessage,
  readShare,
  readText,
  readUint256,
} from '../calls/answer-fields.js'
import { optionProblem } from '../calls/check-arguments.js'
import type { Messages } from '../calls/message-types.js'
import { checkParams, toQuery } from '../calls/request-path.js'

/** What a solver did in some time. Requests for prices and cancelled requests are in no count. */
export interface SolverCounts extends ReadBy<typeof COUNTS> {}
const COUNTS = {
  /** Requests for a quote: the sum of the next six counts. */
  asked: readInteger,
  quoted: readInteger,
  declined: readInteger,
  invalid: readInteger,
  failed: readInteger,
  late: readInteger,
  /** Cut off by the instance's rule, when others had made offers. */
  softDeadline: readInteger,
  /** Offers that were the best of their quote. */
  won: readInteger,
  /** Offers that were the only valid ones of their quote. */
  wonAlone: readInteger,
  /** Orders. */
  deposited: readInteger,
  settled: readInteger,
  refunded: readInteger,
  /** Milliseconds; undefined without a response. */
  medianResponseMs: optional(readInteger),
  p95ResponseMs: optional(readInteger),
}

/** How an instance treats a solver now. */
export interface SolverState extends ReadBy<typeof SOLVER_STATE> {}
export const SOLVER_STATE = {
  /** The bond in the bond token's smallest unit; undefined while the instance has not read it. */
  totalBond: optional(readUint256),
  /** The part of it that is neither reserved nor unstaking. */
  freeBond: optional(readUint256),
  /** Why quotes do not ask the solver at present; undefined when they do. */
  notAsked: optional(readEnum<NonNullable<Messages['SolverStats']['notAsked']>>),
  /** Whether quotes ask the solver: when CLOSED, they do. */
  circuitBreaker: readEnum<Messages['SolverStats']['circuitBreaker']>,
}

/** The sums of a window, and the state of the solver now. */
export interface SolverStats extends ReadBy<typeof STATS> {}
const STATS = {
  solver: readAddress,
  /** Empty when the solver is no longer registered. */
  name: readText,
  ...COUNTS,
  /** The share of its orders that the solver has filled, of those that have ended, from 0 to 1; undefined without one. */
  fillRate: optional(readShare),
  ...SOLVER_STATE,
  /** Whether its last request did not reach it; undefined at an instance that does not say so. */
  unreachable: optional(readBoolean),
} satisfies Readers<'SolverStats'>

/** The counts of one hour. */
export interface SolverHour extends ReadBy<typeof HOUR> {}
const HOUR = {
  /** Unix time in seconds. */
  start: readInteger,
  ...COUNTS,
} satisfies Readers<'SolverHour'>

const readSolverStats = messageReader(STATS)

/** The statistics of one solver. */
export interface SolverStatsByHour extends ReadBy<typeof STATS_BY_HOUR> {}
const STATS_BY_HOUR = {
  stats: readSolverStats,
  /** The hours of the window that have counts, the oldest first. */
  hours: listOf(messageReader(HOUR)),
} satisfies Readers<'GetSolverStatsResponse'>

export interface SolverStatsParams {
  /** The hours before the current one; 24h when left out. */
  readonly window?: StatsWindow | undefined
}

/** The query of a window. @throws AggregatorError INVALID_ARGUMENT */
export function toWindowQuery(params: SolverStatsParams): string {
  checkParams(params, { window: (value) => optionProblem(STATS_WINDOW, value) })
  return toQuery(params)
}

/** Reads the statistics of a chain's solvers. @throws UnreadableAnswer */
export function readSolverStatsList(answer: unknown): SolverStats[] {
  return readList(readMessage<'ListSolverStatsResponse'>(answer).solvers).map(readSolverStats)
}

/** Reads the statistics of a solver. @throws UnreadableAnswer */
export const readSolverStatsByHour = messageReader(STATS_BY_HOUR)
