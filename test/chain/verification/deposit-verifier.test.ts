import { expect, test } from 'vitest'
import { type CallPriority, createCallBudget } from '../../../src/chain/verification/deposit-verifier.js'

function createBudget(maxUnderWay: number, maxPerSecond: number) {
  let now = 5000
  const budget = createCallBudget(maxUnderWay, maxPerSecond, () => now)
  const begin = (count: number, priority: CallPriority = 'high') =>
    Array.from({ length: count }, () => budget.begin(priority)).flatMap((end) =>
      end === undefined ? [] : [end],
    )
  return {
    begin,
    pass(ms: number) {
      now += ms
    },
  }
}

test('no more calls are under way than the budget allows, and each end makes room for one', () => {
  const { begin } = createBudget(3, 100)
  const ends = begin(5)
  expect(ends).toHaveLength(3)
  ends[0]?.()
  expect(begin(5)).toHaveLength(1)
})

test('a call that is ended twice makes room for one', () => {
  const { begin } = createBudget(2, 100)
  const [end] = begin(2)
  end?.()
  end?.()
  expect(begin(5)).toHaveLength(1)
})

test('a second has at most its number of calls, however soon they end', () => {
  const { begin, pass } = createBudget(100, 10)
  for (const end of begin(20)) end()
  expect(begin(1)).toHaveLength(0)
  pass(500)
  expect(begin(20)).toHaveLength(5)
})

test('a quiet minute does not allow more calls in the next second', () => {
  const { begin, pass } = createBudget(100, 10)
  pass(60_000)
  expect(begin(50)).toHaveLength(10)
})

test('a call beyond the budget does not count', () => {
  const { begin, pass } = createBudget(100, 10)
  begin(1000)
  pass(100)
  expect(begin(1000)).toHaveLength(1)
})

test('calls of low priority leave half of the places, and half of the calls of a second', () => {
  const { begin } = createBudget(10, 100)
  const ends = begin(10, 'low')
  expect(ends).toHaveLength(5)
  expect(begin(10)).toHaveLength(5)
  const { begin: beginOther, pass } = createBudget(100, 10)
  expect(beginOther(10, 'low')).toHaveLength(5)
  expect(beginOther(10)).toHaveLength(5)
  pass(600)
  expect(beginOther(10, 'low')).toHaveLength(1)
})
