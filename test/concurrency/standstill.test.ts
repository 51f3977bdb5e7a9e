import { beforeEach, expect, test } from 'vitest'
import { createStandstill, type Standstill } from '../../src/concurrency/standstill.js'
import { createManualClock, type ManualClock } from '../support/manual-clock.js'

let clock: ManualClock
let standstill: Standstill

beforeEach(() => {
  clock = createManualClock()
  standstill = createStandstill(clock)
})

test('a process that runs does not stand still, also when its timers are late under load', async () => {
  const watch = standstill.watch()
  await clock.advance(2000)
  for (let turn = 0; turn < 10; turn++) {
    clock.standStill(200)
    await clock.advance(0)
  }
  expect(watch.stoodStillMs()).toBe(0)
})

test('a standstill is measured before the timer has noticed it, and once', async () => {
  const watch = standstill.watch()
  await clock.advance(100)
  clock.standStill(2050)
  expect(watch.stoodStillMs()).toBe(2000)
  await clock.advance(100)
  expect(watch.stoodStillMs()).toBe(2000)
})

test('standstills add up, and those before a watch do not count for it', async () => {
  const first = standstill.watch()
  clock.standStill(550)
  const second = standstill.watch()
  await clock.advance(100)
  clock.standStill(350)
  expect([first.stoodStillMs(), second.stoodStillMs()]).toEqual([800, 300])
})

test('the time between two watches is no standstill, and takes no timer', () => {
  standstill.watch().end()
  expect(clock.waiting).toBe(0)
  clock.standStill(10_000)
  expect(standstill.watch().stoodStillMs()).toBe(0)
})
