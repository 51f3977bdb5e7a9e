import { expect, it, onTestFinished } from 'vitest'
import { aheadMs, noteInstanceTime } from '../src/data/instance-time.js'
import { healthDueAt, retryPause, type Signs, spread } from '../src/data/request-times.js'

const MISSED_AT = 1_000_000
const signs = (changes: Partial<Signs>): Signs => ({
  askedAt: MISSED_AT + 1000,
  failures: 0,
  missedAt: MISSED_AT,
  ...changes,
})
/** Seconds without a stream, in the middle of what chance gives. */
const dueAfter = (changes: Partial<Signs>) => (healthDueAt(signs(changes), 0.5) - MISSED_AT) / 1000

it.each([
  ['is due a second after the page was opened', { askedAt: undefined }, 1],
  ['is due a second after the stream was lost', { askedAt: MISSED_AT - 1 }, 1],
  ['is due 10 s after an answer', {}, 11],
  ['is due after 2 s once it has failed', { failures: 1 }, 3],
  ['is due later each time it fails', { failures: 3 }, 9],
  ['is due after 15 s however often it has failed', { failures: 50 }, 16],
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

it('the clock of the instance counts when it is ahead', () => {
  const nowMs = Date.parse('2026-01-01T00:00:00Z')
  const aheadAfter = (date: string | null) => {
    noteInstanceTime(date, nowMs)
    return aheadMs.value
  }
  onTestFinished(() => noteInstanceTime(new Date(0).toUTCString()))
  expect(aheadAfter('Thu, 01 Jan 2026 00:05:00 GMT')).toBe(300_000)
  expect([aheadAfter(null), aheadAfter('soon')]).toEqual([300_000, 300_000])
  expect(aheadAfter('Wed, 31 Dec 2025 23:55:00 GMT')).toBe(0)
})
