import { beforeEach, expect, test } from 'vitest'
import { Pace } from '../../src/events/subscriber-pace.js'

const MINUTE = 60_000
let now: number
let pace: Pace

beforeEach(() => {
  now = 0
  pace = new Pace(() => now)
})

/** Lags from now on, after it has caught up. */
function lag(): void {
  pace.request()
  pace.catchUp()
  pace.move(false)
}

test('a subscriber is too slow after a minute of lag', () => {
  lag()
  expect([MINUTE, MINUTE + 1].map((at) => pace.isTooSlow(at))).toEqual([false, true])
})

test('the time for which it waits for a part of the log does not count', () => {
  lag()
  now = 10_000
  pace.startWait()
  expect(pace.isTooSlow(1000 * MINUTE)).toBe(false)
  now = 500_000
  pace.startWait()
  pace.endWait()
  expect([MINUTE, MINUTE + 1].map((ms) => pace.isTooSlow(490_000 + ms))).toEqual([false, true])
})
