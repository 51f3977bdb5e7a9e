import { expect, it } from 'vitest'
import { healthDueAt, retryPause, type Signs, spread } from '../src/data/pacing.js'

const ASKED_AT = 1_000_000
const signs = (changes: Partial<Signs> = {}): Signs => ({
  askedAt: ASKED_AT,
  failures: 0,
  eventAt: undefined,
  isFollowing: true,
  lostAt: undefined,
  usedAt: 0,
  ...changes,
})
/** Seconds after the last question, in the middle of what chance gives. */
const dueAfter = (changes: Partial<Signs>) => (healthDueAt(signs(changes), 0.5) - ASKED_AT) / 1000

it.each([
  ['is due at once at first', { askedAt: undefined }, -ASKED_AT / 1000],
  ['is due after 20 s without an event', {}, 20],
  ['is due 20 s after the last event', { eventAt: ASKED_AT + 30_000 }, 50],
  ['is due after 15 min while events come', { eventAt: ASKED_AT + 899_000 }, 900],
  ['is due at once when somebody comes back after a minute', { usedAt: ASKED_AT + 60_000 }, 60],
  ['is not due when somebody comes before', { eventAt: ASKED_AT + 899_000, usedAt: ASKED_AT + 59_000 }, 900],
  [
    'is due after a pause once it has failed, however often somebody comes',
    { failures: 1, usedAt: ASKED_AT + 60_000 },
    2,
  ],
  ['is due after 10 s without a stream', { isFollowing: false }, 10],
  ['is due soon after the stream was lost', { isFollowing: false, lostAt: ASKED_AT + 3000 }, 3.5],
  ['is due after 10 s once it has answered after the loss', { isFollowing: false, lostAt: ASKED_AT - 1 }, 10],
  ['is due after 2 s once it has failed', { isFollowing: false, failures: 1 }, 2],
  ['is due later each time it fails', { isFollowing: false, failures: 3 }, 8],
  ['is due after 15 s however often it has failed', { isFollowing: false, failures: 50 }, 15],
] as const)('the health %s', (_, changes, seconds) => {
  expect(dueAfter(changes)).toBe(seconds)
})

it('consoles that lose their streams at the same time do not come back at the same time', () => {
  const pauses = Array.from({ length: 200 }, () => retryPause(1, { firstMs: 1000 }))
  const perTenth = Array.from({ length: 16 }, (_, tenth) =>
    pauses.filter((pause) => Math.floor(pause / 100) === tenth),
  )
  expect(Math.min(...pauses)).toBeGreaterThanOrEqual(500)
  expect(Math.max(...pauses)).toBeLessThanOrEqual(1500)
  expect(Math.max(...perTenth.map(({ length }) => length))).toBeLessThan(60)
})

it('consoles that were opened at the same time do not ask at the same time for ever', () => {
  expect([0, 0.5, 1].map((chance) => Math.round(spread(1000, chance)))).toEqual([800, 1000, 1200])
})
