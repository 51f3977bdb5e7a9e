import { expect, test } from 'vitest'
import { isMet, thresholdsOf, verdictOn } from './check.js'

const name = 'throughput'

test('a figure passes at its threshold, and fails beyond it', () => {
  expect(isMet({ name, value: 0.8, atLeast: 0.8 })).toBe(true)
  expect(isMet({ name, value: 0.79, atLeast: 0.8 })).toBe(false)
  expect(isMet({ name, value: 1.5, atMost: 1.5 })).toBe(true)
  expect(isMet({ name, value: 1.51, atMost: 1.5 })).toBe(false)
})

test('a figure with two thresholds must be between them, and one without any always passes', () => {
  expect([0.5, 1, 2.5].map((value) => isMet({ name, value, atLeast: 1, atMost: 2 }))).toEqual([
    false,
    true,
    false,
  ])
  expect(isMet({ name, value: -1 })).toBe(true)
})

test('a value that is not a number fails every threshold', () => {
  expect(verdictOn({ name, value: Number.NaN, atLeast: 0 })).toBe('MISSED')
  expect(verdictOn({ name, value: Number.POSITIVE_INFINITY, atLeast: 0 })).toBe('MISSED')
})

test('thresholds are described in words', () => {
  expect(thresholdsOf({ name, value: 1, atLeast: 0.8 })).toBe('at least 0.8')
  expect(thresholdsOf({ name, value: 1, atLeast: 1, atMost: 2 })).toBe('at least 1, at most 2')
})
