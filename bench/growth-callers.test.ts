import { expect, test } from 'vitest'
import { toRow } from './growth-callers.js'

const answer = (status: number, requestedAt: number, answeredAt: number) => {
  return { status, retryAfterMs: status === 503 ? 1000 : undefined, requestedAt, answeredAt }
}

test('a row has the rate of quotes within the load, and the latencies of quotes and of refusals apart', () => {
  const answers = [
    // Requested before what counts: only its end counts.
    answer(200, -100, 50),
    answer(200, 0, 100),
    answer(200, 1000, 1300),
    answer(503, 1000, 1010),
    // Answered after the end of the load.
    answer(200, 3900, 4400),
  ]
  const row = toRow(3, answers, 0.4)
  expect(row).toMatchObject({ callers: 3, 'quotes/s': 3 / 4, 'median ms': 300, 'longest ms': 500 })
  expect(row).toMatchObject({ 'share of 503': 1 / 4, '503 median ms': 10, 'CPU ms per quote': 100 })
})

test('a row without refusals has zeros for them', () => {
  expect(toRow(1, [answer(200, 0, 1)], 0)).toMatchObject({ 'share of 503': 0, '503 p99 ms': 0 })
})

test('any other status ends the benchmark', () => {
  expect(() => toRow(1, [answer(500, 0, 1)], 0)).toThrow('an answer was 500')
})
