/** The results of requests that statistics count. Cancelled requests are in no count (docs/decisions.md, D14). */
export const COUNTED_RESULTS = ['quoted', 'declined', 'invalid', 'failed', 'late', 'soft_deadline'] as const

export type CountedResult = (typeof COUNTED_RESULTS)[number]

/** What a solver did in some time, as quotes count it. */
export interface QuoteCounts extends Record<CountedResult, number> {
  /** Offers that were the best of a quote with valid offers of two solvers at least. */
  won: number
  /** Offers that were the only valid ones of their quote. */
  won_alone: number
  /** How long its responses of any kind took. */
  readonly responseTimes: ResponseTimes
}

/** What a solver did in some time, with its orders. */
export interface SolverCounts extends QuoteCounts {
  deposited: number
  settled: number
  refunded: number
}

/** What a solver did in some time, with two response times in place of all of them. */
export interface SolverSummary extends Omit<SolverCounts, 'responseTimes'> {
  /** Whole milliseconds; undefined without a response. Also `p95ResponseMs`. */
  readonly medianResponseMs: number | undefined
  readonly p95ResponseMs: number | undefined
}

/** The windows of statistics, in hours before the current one. */
export const WINDOW_HOURS = { '1h': 1, '24h': 24, '7d': 168, '30d': 720 } as const

export type StatsWindow = keyof typeof WINDOW_HOURS

export const STATS_WINDOWS = Object.keys(WINDOW_HOURS) as readonly StatsWindow[]

export const DEFAULT_STATS_WINDOW: StatsWindow = '24h'

/** Hours for which counts are kept: the longest window, and a day. */
export const KEPT_HOURS = 31 * 24

/** Counts of quotes, all 0. */
export function noQuoteCounts(): QuoteCounts {
  const results = { quoted: 0, declined: 0, invalid: 0, failed: 0, late: 0, soft_deadline: 0 }
  return { ...results, won: 0, won_alone: 0, responseTimes: noResponseTimes() }
}

/** All counts, each 0. */
export function noSolverCounts(): SolverCounts {
  return { ...noQuoteCounts(), deposited: 0, settled: 0, refunded: 0 }
}

/** Adds counts of quotes to a sum. */
export function addQuoteCounts(sum: QuoteCounts, counts: QuoteCounts): void {
  for (const result of COUNTED_RESULTS) sum[result] += counts[result]
  sum.won += counts.won
  sum.won_alone += counts.won_alone
  mergeResponseTimes(sum.responseTimes, counts.responseTimes)
}

/** Adds counts of orders to a sum. */
export function addOrderCounts(
  sum: SolverCounts,
  counts: Pick<SolverCounts, 'deposited' | 'settled' | 'refunded'>,
): void {
  sum.deposited += counts.deposited
  sum.settled += counts.settled
  sum.refunded += counts.refunded
}

/** Sums up counts: what is shown of them takes less memory. */
export function summarize({ responseTimes, ...counts }: SolverCounts): SolverSummary {
  return {
    ...counts,
    medianResponseMs: responseTimeWithin(responseTimes, 0.5),
    p95ResponseMs: responseTimeWithin(responseTimes, 0.95),
  }
}

/** The requests that statistics count. */
export function askedOf(counts: Readonly<Record<CountedResult, number>>): number {
  return COUNTED_RESULTS.reduce((sum, result) => sum + counts[result], 0)
}

/** The share of orders that the solver has filled, of those that have ended; undefined without one. */
export function fillRateOf({ settled, refunded }: Pick<SolverCounts, 'settled' | 'refunded'>) {
  const ended = settled + refunded
  return ended === 0 ? undefined : settled / ended
}

/**
 * Response times, as counts by bin. Bin 0 has the times below 1 ms, which count as 1 ms. Bin `n` begins at 1.1^(n-1) ms and ends
 * at 1.1^n ms. A time that is read from the bins differs from the exact one by at most 5 % and, as it is rounded, half a
 * millisecond.
 */
export type ResponseTimes = number[]

const STEP = 1.1
const LOG_STEP = Math.log(STEP)
/** Begins below a minute, the longest quote timeout. Longer times are in it too. */
const LAST_BIN = 116

/** No response. An array of all bins is added to another one in a tenth of the time of a map. */
export function noResponseTimes(): ResponseTimes {
  return new Array(LAST_BIN + 1).fill(0)
}

/** Counts a response time. */
export function addResponseTime(times: ResponseTimes, ms: number): void {
  const bin = ms < 1 ? 0 : Math.min(LAST_BIN, 1 + Math.floor(Math.log(ms) / LOG_STEP))
  times[bin] = (times[bin] ?? 0) + 1
}

/** Adds the counts of `others` to `times`. */
export function mergeResponseTimes(times: ResponseTimes, others: readonly number[]): void {
  for (const [bin, count] of others.entries()) times[bin] = (times[bin] ?? 0) + count
}

/**
 * The time within which a share of the responses came, by the nearest rank.
 * @param share above 0, at most 1: 0.5 for the median
 * @returns whole milliseconds, at least 1; undefined without a response
 */
export function responseTimeWithin(times: readonly number[], share: number): number | undefined {
  const sum = times.reduce((total, count) => total + count, 0)
  if (sum === 0) return undefined
  let missing = Math.ceil(sum * share)
  for (const [bin, count] of times.entries()) {
    missing -= count
    // The middle of the bin, in proportion to its ends.
    if (missing <= 0) return Math.max(1, Math.round(STEP ** (bin - 0.5)))
  }
  return undefined
}

/** The stored form: bins that have some, and their counts, in turn. */
export function writeResponseTimes(times: readonly number[]): string {
  return JSON.stringify(times.flatMap((count, bin) => (count === 0 ? [] : [bin, count])))
}

/** Reads the stored form. */
export function readResponseTimes(text: string): ResponseTimes {
  const numbers: number[] = JSON.parse(text)
  const times = noResponseTimes()
  for (let index = 0; index + 1 < numbers.length; index += 2)
    times[numbers[index] as number] = numbers[index + 1] as number
  return times
}

const HOUR_SECONDS = 3600

/** The hour of a time. @param seconds Unix time in seconds */
export function hourOf(seconds: number): number {
  return Math.floor(seconds / HOUR_SECONDS)
}
