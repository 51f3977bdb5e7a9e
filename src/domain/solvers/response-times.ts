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
