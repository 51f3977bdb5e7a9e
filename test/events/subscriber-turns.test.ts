import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createTurnLimiter } from '../../src/events/subscriber-turns.js'

test('a limited number of callers continue in each turn of the event loop, in the order of their calls', async () => {
  const pass = createTurnLimiter(3)
  const passed: number[] = []
  const all = Array.from({ length: 10 }, async (_, index) => {
    await pass()
    passed.push(index)
  })
  await Promise.resolve()
  expect(passed).toEqual([0, 1, 2])
  let before = passed.length
  while (passed.length < all.length) {
    await turn()
    expect(passed.length - before).toBeLessThanOrEqual(3)
    before = passed.length
  }
  expect(passed).toEqual([...Array(10).keys()])
})

test('no caller waits for long after a pause', async () => {
  const pass = createTurnLimiter(2)
  for (let round = 0; round < 3; round++) {
    expect([pass(), pass()]).toEqual([undefined, undefined])
    await Promise.all([pass(), pass(), pass()])
    for (let turns = 0; turns < 4; turns++) await turn()
  }
})
