import { expect, test } from 'vitest'
import { isMet } from './check.js'
import type { RoundScore } from './load.js'
import { conclude, type LoadResult } from './quote.js'

/** The service takes a tenth of the throughput and 5 % of the CPU more than the limit. */
function result(solvers: number, connections: number): LoadResult {
  const scoreOf = (round: RoundScore) => ({ ...round, spread: 0.1, p99: 20, rounds: [round] })
  const limit = { perSecond: 1100, cpuMs: 1 + 0.1 * solvers, median: 10 }
  return {
    solvers,
    connections,
    scores: {
      limit: scoreOf(limit),
      service: scoreOf({ perSecond: 1000, cpuMs: 1.05 * limit.cpuMs, median: 11 }),
      again: scoreOf({ ...limit, perSecond: 1078 }),
    },
  }
}
const RESULTS = [result(1, 1), result(1, 16), result(10, 1), result(10, 16), result(50, 16)]

test('the findings are taken at ten solvers, and the slope over all sizes', () => {
  const { findings } = conclude(RESULTS, 1)
  const [throughput, latency, ownCpu, slope, noise, completeness] = findings.map(({ value }) => value)
  expect(throughput).toBeCloseTo(1000 / 1100)
  expect(latency).toBeCloseTo(1.1)
  expect(ownCpu).toBeCloseTo(0.1)
  expect(slope).toBeCloseTo(1.05)
  expect(noise).toBeCloseTo(0.98)
  expect(completeness).toBe(1)
  expect(findings.every(isMet)).toBe(true)
})

test('every load has a row for each server, and so has the cost of another solver', () => {
  const { rows } = conclude(RESULTS, 1)
  expect(rows).toHaveLength(3 * RESULTS.length + 2)
  expect(rows[1]).toMatchObject({ solvers: 1, connections: 1, server: 'service', 'quotes/s': 1000 })
  expect(rows.at(-2)?.['CPU ms per quote']).toBeCloseTo(0.1)
  expect(rows.at(-1)?.['CPU ms per quote']).toBeCloseTo(0.105)
})

test('missing offers fail the check', () => {
  expect(conclude(RESULTS, 0.99).findings.filter((finding) => !isMet(finding))).toHaveLength(1)
})
