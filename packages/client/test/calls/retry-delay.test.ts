import { describe, expect, it } from 'vitest'
import { REASONS } from '../../../protocol/src/errors.js'
import { AggregatorError } from '../../src/calls/aggregator-error.js'
import { isRetryable, pause, pauseMs, retryDelay } from '../../src/calls/retry-delay.js'

const lost = new AggregatorError('CONNECTION_FAILED', 'Lost.')

describe('an attempt after a failure', () => {
  it('waits twice as long after each failure in a row, up to half a minute', () => {
    const pauses = [0, 1, 2, 6, 1000].map((failures) => pauseMs(failures, lost, 0))
    expect(pauses).toEqual([500, 1000, 2000, 30_000, 30_000])
  })

  it('waits at least half as long, so that many clients do not come back at once', () => {
    expect([0, 0.5, 1].map((random) => pauseMs(1, lost, random))).toEqual([1000, 750, 500])
  })

  it('waits no less than the instance asks for', () => {
    const limited = new AggregatorError('RATE_LIMITED', 'Too many.', { retryAfterSeconds: 42 })
    expect(pauseMs(0, limited, 0)).toBe(42_000)
    expect(retryDelay(0, limited)).toBe(42_000)
  })

  it('waits no longer than five minutes, whatever the instance asks for', () => {
    const closed = new AggregatorError('CONNECTION_FAILED', 'Closed.', { retryAfterSeconds: 999_999_999 })
    expect(retryDelay(0, closed)).toBe(300_000)
  })

  it('waits as usual after an error of an app', () => {
    expect(retryDelay(0, new Error('of an app'))).toBeLessThanOrEqual(500)
    expect(retryDelay(2, new Error('of an app'))).toBeGreaterThanOrEqual(1000)
  })

  it.each([
    [400, false],
    [404, false],
    [429, true],
    [500, true],
    [503, true],
    [undefined, false],
  ])(
    'is advised by the status for a reason that the client does not know: status %s, %s',
    (httpStatus, expected) => {
      expect(isRetryable(new AggregatorError('MOON_ECLIPSED', 'No.', { httpStatus }))).toBe(expected)
    },
  )

  it('is not advised for NO_QUOTES, with any status', () => {
    expect(isRetryable(new AggregatorError('NO_QUOTES', 'No.', { httpStatus: 503 }))).toBe(false)
  })

  it('stops waiting when the signal aborts', async () => {
    const leaving = new AbortController()
    const waiting = pause(2 ** 30, leaving.signal)
    leaving.abort()
    await expect(waiting, 'the pause that has begun ends').resolves.toBeUndefined()
    await expect(pause(2 ** 30, leaving.signal), 'a later pause ends').resolves.toBeUndefined()
  })

  // The client opens no sessions.
  const calls = Object.entries(REASONS).filter(([reason]) => !reason.startsWith('SESSION'))
  it.each(calls)('is advised for %s as its RPC code says', (reason, { rpc, http }) => {
    const mayPass = ['unavailable', 'resource_exhausted', 'internal'].includes(rpc)
    expect(isRetryable(new AggregatorError(reason, 'No.', { httpStatus: http }))).toBe(mayPass)
    expect(isRetryable(new AggregatorError(reason, 'At the end of a stream.'))).toBe(mayPass)
  })

  it('is advised for a lost connection and a time-out, and for no other reason of the client', () => {
    const reasons = ['CONNECTION_FAILED', 'TIMED_OUT'] as const
    const others = ['CANCELLED', 'ANSWER_INVALID'] as const
    const judged = [...reasons, ...others].filter((reason) => isRetryable(new AggregatorError(reason, '')))
    expect(judged).toEqual(reasons)
  })
})
