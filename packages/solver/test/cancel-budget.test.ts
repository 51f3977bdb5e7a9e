import { expect, it } from 'vitest'
import { createCancelBudget } from '../src/cancel-budget.js'
import { openState } from '../src/state.js'

const chain = { chainId: 1, maxCancelFees: 100n }
const HOUR = 3_600

function startBudget() {
  const state = openState(':memory:')
  let time = 1_000_000
  return {
    build: () => createCancelBudget(chain, state, () => time),
    pass(seconds: number) {
      time += seconds
    },
  }
}

it('cancellations cost what was set at most within an hour, and then nothing more is quoted', () => {
  const { build, pass } = startBudget()
  const budget = build()
  budget.reserve('one', 60n)
  expect(budget.isSpent()).toBe(false)
  expect(() => budget.reserve('two', 41n)).toThrow('more than maxCancelFees in an hour')
  expect(budget.isSpent()).toBe(true)
  pass(HOUR - 1)
  expect(budget.isSpent()).toBe(true)
  pass(1)
  expect(budget.isSpent()).toBe(false)
  budget.reserve('two', 41n)
})

it('a cancellation is counted once: at its highest cost until it ends, and then at its cost', () => {
  const budget = startBudget().build()
  budget.reserve('one', 100n)
  budget.reserve('one', 90n)
  expect(budget.isSpent()).toBe(false)
  expect(() => budget.reserve('two', 50n)).toThrow('maxCancelFees')
  budget.charge('one', 50n)
  expect(budget.isSpent()).toBe(false)
  budget.reserve('two', 50n)
  expect(budget.isSpent()).toBe(true)
})

it('what was spent counts after a restart', () => {
  const { build, pass } = startBudget()
  build().charge('one', 100n)
  expect(build().isSpent()).toBe(true)
  pass(HOUR)
  expect(build().isSpent()).toBe(false)
})
