import { expect, test } from 'vitest'
import { exactInput, signedQuote } from '../../../../test/support/solvers/sample-quotes.js'
import { ORDER_TYPES } from '../../src/quotes/quote.js'
import { deadlines, isTooShort } from '../../src/signing/quote-request.js'

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

test('offers may be earlier only where that is less than the deposit window', () => {
  const windows = { depositWindowSeconds: 300, fillWindowSeconds: 120 }
  const earliest = (minDepositWindowSeconds: number) =>
    deadlines(1_800_000_000_000, { ...windows, minDepositWindowSeconds })
  expect(earliest(60)).toEqual({
    ...deadlines(1_800_000_000_000, windows),
    minDepositDeadline: 1_800_000_060,
  })
  expect(earliest(300)).toEqual(deadlines(1_800_000_000_000, windows))
})

test.each([
  ['an offer that is earlier than asked', 1_800_000_299, 20_000, false],
  ['an offer that is earlier than asked', 1_800_000_299, 19_999, true],
  ['an offer for the whole window', 1_800_000_300, 1, false],
])('%s, until %d, with %d ms left is too short: %s', (_what, depositDeadline, leftMs, isShort) => {
  const { quote } = signedQuote({ depositDeadline })
  expect(isTooShort(exactInput, quote, depositDeadline * 1000 - leftMs)).toBe(isShort)
})
