import { expect, it } from 'vitest'
import { createCancelBudget, OverBudget } from '../src/cancel-budget.js'
import { openState } from '../src/state.js'

const chain = { chainId: 1, maxCancelFees: 100n }
const HOUR = 3_600

function startBudget() {
  const state = openState(':memory:')
  let time = 1_000_000
  const reports: string[] = []
  return {
    reports,
    build: () =>
      createCancelBudget({
        chain,
        state,
        now: () => time,
        onSpent: () => reports.push('spent'),
      }),
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

it('what does not fit is reported once an hour, however often it is tried', () => {
  const { build, pass, reports } = startBudget()
  const budget = build()
  budget.reserve('one', 60n)
  for (let second = 0; second < HOUR - 1; second++) {
    expect(() => budget.reserve('two', 41n)).toThrow(OverBudget)
    pass(1)
  }
  expect(reports).toEqual(['spent'])
  pass(1)
  budget.reserve('two', 41n)
  expect(() => budget.reserve('three', 100n)).toThrow(OverBudget)
  expect(reports).toEqual(['spent', 'spent'])
})

it('one is worth a try when there is room for the last one that did not fit, and a minute after it: fees may have fallen', () => {
  const { build, pass } = startBudget()
  const budget = build()
  expect(budget.isWorthATry()).toBe(true)
  expect(() => budget.reserve('one', 101n)).toThrow(OverBudget)
  pass(59)
  expect(budget.isWorthATry()).toBe(false)
  pass(1)
  expect([budget.isWorthATry(), budget.isSpent()]).toEqual([true, true])
  budget.reserve('one', 60n)
  expect([budget.isWorthATry(), budget.isSpent()]).toEqual([true, false])
  expect(() => budget.reserve('two', 60n)).toThrow(OverBudget)
  expect(budget.isWorthATry()).toBe(false)
  budget.charge('one', 40n)
  expect([budget.isWorthATry(), budget.isSpent()]).toEqual([true, false])
})

it('one that would never fit stops quotes for an hour after the last try only', () => {
  const { build, pass } = startBudget()
  const budget = build()
  expect(() => budget.reserve('one', 101n)).toThrow(OverBudget)
  pass(HOUR - 1)
  expect(budget.isSpent()).toBe(true)
  pass(1)
  expect(budget.isSpent()).toBe(false)
})
