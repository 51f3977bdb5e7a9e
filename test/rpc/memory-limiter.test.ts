import fc from 'fast-check'
import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible'
import { expect, onTestFinished, test, vi } from 'vitest'
import { MemoryLimiter } from '../../src/rpc/memory-limiter.js'

const LIMIT = 3
const WINDOW_MS = 1000

/** What a caller sees of a count, and whether it is above the limit. */
async function resultOf(counted: RateLimiterRes | Promise<RateLimiterRes>) {
  const of = (isAbove: boolean) => (result: RateLimiterRes) => {
    const { remainingPoints, msBeforeNext, isFirstInDuration } = result
    return { isAbove, remainingPoints, msBeforeNext, isFirstInDuration }
  }
  return Promise.resolve(counted).then(of(false), of(true))
}

test('the limiter counts as RateLimiterMemory does, in windows that begin with the first request of a key', async () => {
  vi.useFakeTimers({ now: 0 })
  onTestFinished(() => void vi.useRealTimers())
  const step = fc.record({
    key: fc.constantFrom('a', 'b', 'c'),
    pauseMs: fc.constantFrom(0, 1, 400, 999, 1000),
  })
  const property = fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), async (steps) => {
    const limiter = new MemoryLimiter(LIMIT, WINDOW_MS)
    const library = new RateLimiterMemory({ points: LIMIT, duration: WINDOW_MS / 1000 })
    for (const { key, pauseMs } of steps) {
      vi.advanceTimersByTime(pauseMs)
      expect((await limiter.get(key))?.remainingPoints).toBe((await library.get(key))?.remainingPoints)
      expect(await resultOf(limiter.consume(key))).toEqual(await resultOf(library.consume(key)))
    }
  })
  await fc.assert(property, { seed: 20_261_124, numRuns: 50 })
})

test('a request within the limit is counted at once, without a promise', () => {
  expect(new MemoryLimiter(LIMIT, WINDOW_MS).consume('a')).toMatchObject({ remainingPoints: LIMIT - 1 })
})

test('a window ends when the clock is set back to before its first request', () => {
  vi.useFakeTimers({ toFake: ['Date'], now: 10 * WINDOW_MS })
  onTestFinished(() => void vi.useRealTimers())
  const limiter = new MemoryLimiter(LIMIT, WINDOW_MS)
  limiter.consume('a')
  vi.setSystemTime(5 * WINDOW_MS)
  expect(limiter.consume('a')).toMatchObject({ isFirstInDuration: true, msBeforeNext: WINDOW_MS })
})
