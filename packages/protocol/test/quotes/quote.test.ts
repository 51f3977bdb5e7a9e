import { expect, test } from 'vitest'
import { deadlines, ORDER_TYPES } from '../../src/quotes/quote.js'

test('the index of an order type is its number on the contract', () => {
  expect(ORDER_TYPES.indexOf('EXACT_INPUT')).toBe(0)
  expect(ORDER_TYPES.indexOf('EXACT_OUTPUT')).toBe(1)
})

test('the deposit deadline is one window from now, and the fill deadline one fill window after it', () => {
  const windows = { depositWindowSeconds: 300, fillWindowSeconds: 120 }
  expect(deadlines(1_800_000_000_000, windows)).toEqual({
    depositDeadline: 1_800_000_300,
    fillDeadline: 1_800_000_420,
  })
})

test('deadlines count from the current second', () => {
  const windows = { depositWindowSeconds: 1, fillWindowSeconds: 1 }
  expect(deadlines(1_800_000_000_999, windows)).toEqual({
    depositDeadline: 1_800_000_001,
    fillDeadline: 1_800_000_002,
  })
})
