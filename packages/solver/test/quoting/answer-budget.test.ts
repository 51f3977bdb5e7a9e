import { expect, it } from 'vitest'
import { createManualClock } from '../../../../test/support/manual-clock.js'
import { type AnswerSource, createAnswerBudget } from '../../src/quoting/answer-budget.js'

function startBudget() {
  const clock = createManualClock()
  const budget = createAnswerBudget(clock)
  /** How many of so many requests are answered. */
  const take = (count: number, source: AnswerSource = 'SESSION') =>
    Array.from({ length: count }, () => budget.take(source)).filter(Boolean).length
  /** A tick whose timer is late, since answers have taken the loop. */
  async function passLate(): Promise<void> {
    clock.standStill(150)
    await clock.advance(1)
  }
  return { clock, take, passLate }
}

it('answers have no limit while timers are in time, and half of the last tick after a late one', async () => {
  const { clock, take, passLate } = startBudget()
  expect(take(3_000, 'ENDPOINT')).toBe(3_000)
  await clock.advance(50)
  expect(take(200)).toBe(200)
  await passLate()
  expect(take(200)).toBe(100)
  await passLate()
  expect(take(200)).toBe(50)
})

it('a few answers are always allowed, of which the endpoint has half, and the session the rest', async () => {
  const { take, passLate } = startBudget()
  for (let tick = 0; tick < 10; tick++) {
    take(200)
    await passLate()
  }
  expect([take(200, 'ENDPOINT'), take(200), take(200, 'ENDPOINT')]).toEqual([8, 8, 0])
})

it('the limit goes when timers are in time again, and no timer waits then', async () => {
  const { clock, take, passLate } = startBudget()
  take(40)
  await passLate()
  expect(take(200)).toBe(20)
  await clock.advance(2_000)
  expect(take(3_000)).toBe(3_000)
  await clock.advance(100)
  expect(clock.waiting).toBe(0)
})
