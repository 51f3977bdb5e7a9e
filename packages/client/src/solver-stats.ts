import type { Address } from 'viem'
import { STATS_WINDOW } from '../../../src/domain/field-rules.js'
import type { StatsWindow } from '../../../src/domain/solvers/solver-statistics.js'
import {
  readAddress,
  readEnum,
  readInteger,
  readList,
  readMessage,
  readOptional,
  readShare,
  readText,
  readUint256,
} from './answer-fields.js'
import type { Messages, UnknownText, Untrusted } from './messages.js'

/** What a solver did in some time. Requests for prices and cancelled requests are in no count. */
export interface SolverCounts {
  /** Requests for a quote: the sum of the next six counts. */
  readonly asked: number
  readonly quoted: number
  readonly declined: number
  readonly invalid: number
  readonly failed: number
  readonly late: number
  /** Cut off by the instance's own soft deadline. */
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
  /** Whether quotes wait for the solver: when CLOSED, they do. */
  readonly circuitBreaker: Messages['SolverStats']['circuitBreaker'] | UnknownText
  /** A time in which the solver is not asked; `until` in Unix milliseconds. */
  readonly coolDown: { readonly until: number; readonly level: number } | undefined
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

/** What is wrong with a window; undefined when it is right or left out. */
export function windowProblem(window: unknown): string | undefined {
  const isWindow = typeof window === 'string' && STATS_WINDOW.pattern.test(window)
  return window === undefined || isWindow ? undefined : STATS_WINDOW.mustBe
}

/** The query of a window. */
export function toWindowQuery({ window }: SolverStatsParams): string {
  return window === undefined ? '' : `?window=${window}`
}

/** Reads the statistics of a chain's solvers. @throws UnreadableAnswer */
export function readSolverStatsList(answer: unknown): SolverStats[] {
  return readList(readMessage<'ListSolverStatsResponse'>(answer).solvers).map(readSolverStats)
}

/** Reads the statistics of a solver. @throws UnreadableAnswer */
export function readSolverStatsByHour(answer: unknown): SolverStatsByHour {
  const { stats, hours } = readMessage<'GetSolverStatsResponse'>(answer)
  return { stats: readSolverStats(stats), hours: readList(hours).map(readSolverHour) }
}

function readSolverStats(answer: unknown): SolverStats {
  const stats = readMessage<'SolverStats'>(answer)
  return {
    solver: readAddress(stats.solver),
    name: readText(stats.name),
    ...readCounts(stats),
    fillRate: readOptional(stats.fillRate, readShare),
    ...readSolverState(stats),
  }
}

function readSolverHour(answer: unknown): SolverHour {
  const hour = readMessage<'SolverHour'>(answer)
  return { start: readInteger(hour.start), ...readCounts(hour) }
}

function readCounts(counts: Untrusted<'SolverHour'> | Untrusted<'SolverStats'>): SolverCounts {
  return {
    asked: readInteger(counts.asked),
    quoted: readInteger(counts.quoted),
    declined: readInteger(counts.declined),
    invalid: readInteger(counts.invalid),
    failed: readInteger(counts.failed),
    late: readInteger(counts.late),
    softDeadline: readInteger(counts.softDeadline),
    won: readInteger(counts.won),
    wonAlone: readInteger(counts.wonAlone),
    deposited: readInteger(counts.deposited),
    settled: readInteger(counts.settled),
    refunded: readInteger(counts.refunded),
    medianResponseMs: readOptional(counts.medianResponseMs, readInteger),
    p95ResponseMs: readOptional(counts.p95ResponseMs, readInteger),
  }
}

/** Reads the state of a solver. @throws UnreadableAnswer */
export function readSolverState(
  message: Untrusted<'SolverStats'> | Untrusted<'ListOwnResultsResponse'>,
): SolverState {
  return {
    totalBond: readOptional(message.totalBond, readUint256),
    freeBond: readOptional(message.freeBond, readUint256),
    notAsked: readOptional(message.notAsked, readEnum),
    circuitBreaker: readEnum(message.circuitBreaker),
    coolDown: readOptional(message.coolDown, readCoolDown),
  }
}

function readCoolDown(answer: unknown) {
  const { until, level } = readMessage<'CoolDown'>(answer)
  return { until: readInteger(until), level: readInteger(level) }
}
