import { expect, test } from 'vitest'
import { isMet, linesOf, verdictOn } from './check.js'

const name = 'throughput'

test('a figure may stand on its line, and not beyond it', () => {
  expect(isMet({ name, value: 0.8, atLeast: 0.8 })).toBe(true)
  expect(isMet({ name, value: 0.79, atLeast: 0.8 })).toBe(false)
  expect(isMet({ name, value: 1.5, atMost: 1.5 })).toBe(true)
  expect(isMet({ name, value: 1.51, atMost: 1.5 })).toBe(false)
})

test('a figure with two lines must be between them, one without any may be what it likes', () => {
  expect([0.5, 1, 2.5].map((value) => isMet({ name, value, atLeast: 1, atMost: 2 }))).toEqual([
    false,
    true,
    false,
  ])
  expect(isMet({ name, value: -1 })).toBe(true)
})

test('what is no number is beyond every line', () => {
  expect(verdictOn({ name, value: Number.NaN, atLeast: 0 })).toBe('MISSED')
  expect(verdictOn({ name, value: Number.POSITIVE_INFINITY, atLeast: 0 })).toBe('MISSED')
})

test('lines are told in words', () => {
  expect(linesOf({ name, value: 1, atLeast: 0.8 })).toBe('at least 0.8')
  expect(linesOf({ name, value: 1, atLeast: 1, atMost: 2 })).toBe('at least 1, at most 2')
})
