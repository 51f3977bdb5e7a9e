import { expect, it } from 'vitest'
import { AggregatorError } from '../src/errors.js'
import { isRetryable, pause, pauseMs } from '../src/retry.js'

const lost = new AggregatorError('CONNECTION_FAILED', 'Lost.')

it('waits twice as long after each failure in a row, up to half a minute', () => {
  const pauses = [1, 2, 3, 7, 1000].map((failures) => pauseMs(failures, lost, 0))
  expect(pauses).toEqual([500, 1000, 2000, 30_000, 30_000])
})

it('waits half as long at the least, so that not all come back at once', () => {
  expect([0, 0.5, 1].map((random) => pauseMs(2, lost, random))).toEqual([1000, 750, 500])
})

it('waits no less than the instance asks for', () => {
  const limited = new AggregatorError('RATE_LIMITED', 'Too many.', { retryAfterSeconds: 42 })
  expect(pauseMs(1, limited, 0)).toBe(42_000)
})

it('ends a pause by the signal', async () => {
  const leaving = new AbortController()
  const waiting = pause(2 ** 30, leaving.signal)
  leaving.abort()
  await waiting
  await pause(2 ** 30, leaving.signal)
})

it('tries again what passes, and nothing else', () => {
  const reasons = ['SHUTTING_DOWN', 'CHAIN_UNAVAILABLE', 'DATABASE_UNAVAILABLE'] as const
  const others = ['CURSOR_UNKNOWN', 'ANSWER_INVALID'] as const
  const judged = [...reasons, ...others].filter((reason) => isRetryable(new AggregatorError(reason, '')))
  expect(judged).toEqual(reasons)
})
