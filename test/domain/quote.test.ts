import { expect, test } from 'vitest'
import { deadlines, ORDER_TYPES } from '../../src/domain/quote.js'

test('order types stand at their number on the contract', () => {
  expect(ORDER_TYPES.indexOf('EXACT_INPUT')).toBe(0)
  expect(ORDER_TYPES.indexOf('EXACT_OUTPUT')).toBe(1)
})

test('the deposit deadline is one window from now, the fill deadline one fill window behind it', () => {
  const windows = { depositWindowSeconds: 300, fillWindowSeconds: 120 }
  expect(deadlines(1_800_000_000_000, windows)).toEqual({
    depositDeadline: 1_800_000_300,
    fillDeadline: 1_800_000_420,
  })
})

test('deadlines count from the second that has begun', () => {
  const windows = { depositWindowSeconds: 1, fillWindowSeconds: 1 }
  expect(deadlines(1_800_000_000_999, windows)).toEqual({
    depositDeadline: 1_800_000_001,
    fillDeadline: 1_800_000_002,
  })
})
