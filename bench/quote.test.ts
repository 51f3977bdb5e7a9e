import { expect, test } from 'vitest'
import { isMet } from './check.js'
import { type Bout, conclude } from './quote.js'

/** The service takes a fifth more of everything than the limit. */
function bout(solvers: number, connections: number): Bout {
  const limit = { perSecond: 1200, cpuMs: 1 + 0.1 * solvers, median: 10, p99: 20 }
  return {
    solvers,
    connections,
    scores: { limit, service: { perSecond: 1000, cpuMs: 1.2 * limit.cpuMs, median: 12, p99: 24 } },
  }
}
const BOUTS = [bout(1, 1), bout(1, 16), bout(10, 1), bout(10, 16), bout(50, 16)]

test('the findings are taken at ten solvers, and the slope over all sizes', () => {
  const { findings } = conclude(BOUTS, 1)
  const [throughput, latency, slope, completeness] = findings.map(({ value }) => value)
  expect(throughput).toBeCloseTo(1000 / 1200)
  expect(latency).toBeCloseTo(1.2)
  expect(slope).toBeCloseTo(1.2)
  expect(completeness).toBe(1)
  expect(findings.every(isMet)).toBe(true)
})

test('every load has a row for each server, and so has the cost of another solver', () => {
  const { rows } = conclude(BOUTS, 1)
  expect(rows).toHaveLength(2 * BOUTS.length + 2)
  expect(rows[1]).toMatchObject({ solvers: 1, connections: 1, server: 'service', 'quotes/s': 1000 })
  expect(rows.at(-2)?.['CPU ms per quote']).toBeCloseTo(0.1)
  expect(rows.at(-1)?.['CPU ms per quote']).toBeCloseTo(0.12)
})

test('missing offers fail the check', () => {
  expect(conclude(BOUTS, 0.99).findings.filter((finding) => !isMet(finding))).toHaveLength(1)
})
