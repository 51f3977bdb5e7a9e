import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createStandstill, type Standstill } from '../../src/concurrency/standstill.js'

let now: number
let standstill: Standstill

beforeEach(() => {
  vi.useFakeTimers()
  now = 1000
  standstill = createStandstill(() => now)
})
afterEach(() => void vi.useRealTimers())

/** The process runs: its timers do too, each late by some milliseconds. */
function run(ms: number, lateMs = 0): void {
  for (let passed = 0; passed < ms; passed += 50) {
    now += 50 + lateMs
    vi.advanceTimersByTime(50)
  }
}

test('a process that runs does not stand still, also when its timers are late under load', () => {
  const watch = standstill.watch()
  run(2000)
  run(2000, 150)
  expect(watch.stoodStillMs()).toBe(0)
})

test('a standstill is measured before the timer has noticed it, and once', () => {
  const watch = standstill.watch()
  run(100)
  now += 2050
  expect(watch.stoodStillMs()).toBe(2000)
  run(100)
  expect(watch.stoodStillMs()).toBe(2000)
})

test('standstills add up, and those before a watch do not count for it', () => {
  const first = standstill.watch()
  now += 550
  const second = standstill.watch()
  run(100)
  now += 350
  expect([first.stoodStillMs(), second.stoodStillMs()]).toEqual([800, 300])
})

test('the time between two watches is no standstill, and takes no timer', () => {
  standstill.watch().end()
  expect(vi.getTimerCount()).toBe(0)
  now += 10_000
  expect(standstill.watch().stoodStillMs()).toBe(0)
})
