import { expect, it } from 'vitest'
import { only } from '../../../../test/support/only.js'
import { createCancelBudget } from '../../src/ending/cancellations.js'
import { openState } from '../../src/state.js'

const chain = { chainId: 1, maxCancelFees: 100n }
const HOUR = 3_600

function startBudget() {
  const state = openState(':memory:')
  let time = 1_000_000
  return {
    kept: () => state.position('cancellation fees 1'),
    build: () => createCancelBudget(only({ chain, state, time: { passed: () => time }, report() {} })),
    pass(seconds: number) {
      time += seconds
    },
  }
}

it('cancellations cost what was set at most within an hour', () => {
  const { build, pass } = startBudget()
  const budget = build()
  expect(budget.reserve('one', 60n)).toBe(true)
  expect([budget.reserve('two', 41n), budget.left()]).toEqual([false, 40n])
  pass(HOUR - 1)
  expect(budget.left()).toBe(40n)
  pass(1)
  expect([budget.left(), budget.reserve('two', 41n)]).toEqual([100n, true])
})

it('a cancellation leaves as much for each quote that risks more', () => {
  const budget = startBudget().build()
  expect([budget.reserve('small', 30n, 3), budget.reserve('small', 25n, 3)]).toEqual([false, true])
  expect(budget.reserve('large', 75n)).toBe(true)
})

it('a cancellation is counted once: at its highest cost until it ends, and then at its cost', () => {
  const budget = startBudget().build()
  expect([budget.reserve('one', 100n), budget.reserve('one', 90n)]).toEqual([true, true])
  expect(budget.reserve('two', 50n)).toBe(false)
  budget.charge('one', 50n)
  expect([budget.left(), budget.reserve('two', 50n), budget.left()]).toEqual([50n, true, 0n])
})

it('what has ended in a minute is one cost, however many cancellations an hour has', () => {
  const { build, pass, kept } = startBudget()
  const budget = build()
  for (let count = 0; count < 90; count++) {
    budget.reserve(`word ${count}`, 5n)
    budget.charge(`word ${count}`, 1n)
    pass(1)
  }
  expect(budget.left()).toBe(10n)
  expect(JSON.parse(kept() ?? '')).toHaveLength(3)
  pass(HOUR)
  expect(budget.left()).toBe(100n)
})

it('what was spent counts after a restart', () => {
  const { build, pass } = startBudget()
  build().charge('one', 100n)
  expect(build().left()).toBe(0n)
  pass(HOUR)
  expect(build().left()).toBe(100n)
})
