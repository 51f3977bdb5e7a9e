import { expect, test } from 'vitest'
import { postJson } from './callers.js'
import { isMet } from './check.js'
import type { RoundScore } from './load.js'
import { conclude, type SizeResult, startSessionPool } from './sessions.js'
import { startSolverFixture } from './solver-fixture.js'

/** Sessions take half of the CPU that endpoints take, and give twice as many quotes. */
function result(solvers: number): SizeResult {
  const scoreOf = (round: RoundScore) => ({ ...round, spread: 0.1, p99: 2 * round.median, rounds: [round] })
  const score = scoreOf({ perSecond: 1000, cpuMs: 1 + 0.1 * solvers, median: 10 })
  const fast = scoreOf({ perSecond: 2000, cpuMs: 1 + 0.05 * solvers, median: 5 })
  return {
    solvers,
    scores: {
      'bare server, endpoints': score,
      'bare server, WebSocket': fast,
      'service, endpoints': score,
      'service, WebSocket sessions': fast,
      'service, gRPC sessions': score,
    },
  }
}
const RESULTS = [result(10), result(50), result(200)]

test('sessions are compared with endpoints at ten solvers, and by the slope over all sizes', () => {
  const { findings } = conclude(RESULTS, 1)
  const [overEndpoints, overLimit, slope, completeness] = findings.map(({ value }) => value)
  expect([overEndpoints, overLimit, completeness]).toEqual([2, 2, 1])
  expect(slope).toBeCloseTo(0.5)
  expect(findings.every(isMet)).toBe(true)
})

test('every size has a row for each server, and so has the cost of another solver', () => {
  const { rows } = conclude(RESULTS, 1)
  expect(rows).toHaveLength(5 * RESULTS.length + 5)
  expect(rows[3]).toMatchObject({ solvers: 10, server: 'service, WebSocket sessions', ratio: 2 })
  expect(rows.at(-2)).toMatchObject({ solvers: 'each one more', server: 'service, WebSocket sessions' })
  expect(rows.at(-2)?.['CPU ms per quote']).toBeCloseTo(0.05)
})

test('missing offers fail the check', () => {
  expect(conclude(RESULTS, 0.99).findings.filter((finding) => !isMet(finding))).toHaveLength(1)
})

test('the solvers of both bare servers answer with the same offers', async () => {
  const fixture = await startSolverFixture(3)
  try {
    const endpoints = await fixture.startServer('bench/bare-quote-server.ts', fixture.endpoints)
    const sessions = await fixture.startServer('bench/bare-session-server.ts', {})
    const pool = await startSessionPool(fixture)
    await pool.connect({ url: sessions.url, transport: 'websocket', from: 0, to: 3 })
    const [one, other] = await Promise.all(
      [endpoints, sessions].map(({ url }) => postJson(`${url}/?solvers=3`, fixture.quoteRequest)),
    )
    const amounts = (answer: typeof one) =>
      [answer, ...answer.alternativeQuotes].map(({ quote }) => `${quote.solver} ${quote.outputAmount}`)
    expect(amounts(other)).toHaveLength(3)
    expect(amounts(other)).toEqual(amounts(one))
    await pool.stop()
  } finally {
    await fixture.stop()
  }
})
