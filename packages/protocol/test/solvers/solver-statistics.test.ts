import { expect, it } from 'vitest'
import {
  addResponseTime,
  mergeResponseTimes,
  noResponseTimes,
  type ResponseTimes,
  readResponseTimes,
  responseTimeWithin,
  writeResponseTimes,
} from '../../src/solvers/solver-statistics.js'

function timesOf(all: readonly number[]): ResponseTimes {
  const times = noResponseTimes()
  for (const ms of all) addResponseTime(times, ms)
  return times
}

/** From 0.1 ms to a minute, each half a percent after the one before it. */
const ALL = Array.from({ length: 2600 }, (_, index) => 0.1 * 1.005 ** index).filter((ms) => ms <= 60_000)

it('a time differs from the exact one by at most 5 % and half a millisecond', () => {
  for (const ms of ALL) {
    const given = responseTimeWithin(timesOf([ms]), 0.5) ?? Number.NaN
    expect(Math.abs(given - ms), `${ms} ms as ${given} ms`).toBeLessThanOrEqual(ms < 1 ? 1 : ms * 0.05 + 0.5)
  }
})

it('median and p95 are nearest ranks', () => {
  const exact = ALL.filter((ms) => ms >= 1)
  for (const share of [0.5, 0.95]) {
    const rank = exact[Math.ceil(exact.length * share) - 1] ?? Number.NaN
    const given = responseTimeWithin(timesOf(exact), share) ?? Number.NaN
    expect(Math.abs(given - rank)).toBeLessThanOrEqual(rank * 0.05 + 0.5)
  }
})

it('the stored form has all counts, and nothing is undefined', () => {
  const times = timesOf(ALL)
  expect(readResponseTimes(writeResponseTimes(times))).toEqual(times)
  expect(writeResponseTimes(timesOf([0.5, 0.5, 70_000]))).toBe('[0,2,116,1]')
  expect(responseTimeWithin(timesOf([]), 0.5)).toBeUndefined()
})

it('the sum of two has the counts of both', () => {
  const [one, other] = [timesOf([1, 5, 5, 5]), timesOf([5, 200])]
  mergeResponseTimes(one, other)
  expect(one).toEqual(timesOf([1, 5, 5, 5, 5, 200]))
  expect(other).toEqual(timesOf([5, 200]))
})
