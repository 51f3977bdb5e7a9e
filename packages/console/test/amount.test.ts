import { expect, it } from 'vitest'
import {
  differenceBps,
  exactAmount,
  formatAmount,
  formatBps,
  formatChange,
  formatRate,
  formatReceipt,
  formatShare,
  isAmbiguous,
  parseAmount,
} from '../src/format/amount.js'

const GAP = '\u202f'

it.each([
  [0n, 18, '0.0000'],
  [10n ** 18n, 18, '1.0000'],
  [2_497_000_000n, 6, `2${GAP}497.00`],
  [50_000n, 6, '0.05'],
  [3_000n, 6, '0.003'],
  [1_234_567_890_000_000_000n, 18, '1.23456'],
  [742_468n * 10n ** 11n, 18, '0.0742468'],
  [3_112_345_678_900_000_000_000n, 18, `3${GAP}112.3456`],
  [2_498_759_999n, 6, `2${GAP}498.75`],
  [999_999n, 6, '0.99'],
  [41_240_600_000_000_000n, 18, '0.0412406'],
  [1n, 18, '<0.000000000001'],
  [5n, 0, '5'],
  [1_234_567n, 0, `1${GAP}234${GAP}567`],
  [2n ** 256n - 1n, 18, `1.157${GAP}×${GAP}10⁵⁹`],
  [2n ** 256n - 1n, 255, '<0.000000000001'],
])('%s with %s decimals is shown as %s', (amount, decimals, expected) => {
  expect(formatAmount(amount, decimals)).toBe(expected)
})

it('shows the smallest units of a token whose decimals are not known', () => {
  expect(formatAmount(1_234_567n, undefined)).toBe(`1${GAP}234${GAP}567`)
  expect(formatAmount(10n ** 18n, undefined)).toBe(`1.000${GAP}×${GAP}10¹⁸`)
})

it('writes the exact amount for copying', () => {
  expect(exactAmount(2_498_750_001n, 6)).toBe('2498.750001')
  expect(exactAmount(10n ** 18n, 18)).toBe('1')
  expect(exactAmount(7n, undefined)).toBe('7')
})

it.each([
  ['1', 18, 10n ** 18n],
  ['1.5', 6, 1_500_000n],
  ['.5', 6, 500_000n],
  ['2 498,75', 6, 2_498_750_000n],
  [`2${GAP}498.75`, 6, 2_498_750_000n],
  ['0', 6, undefined],
  ['1.0000001', 6, undefined],
  ['1.5', undefined, undefined],
  ['-1', 6, undefined],
  ['1e6', 6, undefined],
  ['', 6, undefined],
  [String(2n ** 256n), 0, undefined],
  [String(2n ** 256n - 1n), 0, 2n ** 256n - 1n],
])('"%s" with %s decimals is read as %s', (text, decimals, expected) => {
  expect(parseAmount(text, decimals)).toBe(expected)
})

it.each(['1,000', '12,345', '999,999'])('%s may be thousands or a fraction, and is no amount', (text) => {
  expect(isAmbiguous(text)).toBe(true)
  expect(parseAmount(text, 18)).toBeUndefined()
})

it.each([
  ['0,125', 125n],
  ['1,5', 1500n],
  ['1.000', 1000n],
])('%s is a fraction', (text, expected) => {
  expect(isAmbiguous(text)).toBe(false)
  expect(parseAmount(text, 3)).toBe(expected)
})

it('is signed from the view of the user: less output and more input are losses', () => {
  expect(differenceBps(2_497_000_000n, 2_498_750_000n, true)).toBeCloseTo(-7, 1)
  expect(differenceBps(1_001n, 1_000n, false)).toBe(-10)
  expect(differenceBps(999n, 1_000n, false)).toBe(10)
  expect([-7.004, 0.04, 12.5, -12_345].map(formatBps)).toEqual([
    '−7.0 bp',
    '0.0 bp',
    '+12.5 bp',
    `−12${GAP}345 bp`,
  ])
  expect([-0.004, 0, 0.004, -0.005001, 1234.5].map((change) => formatChange(change, 2))).toEqual([
    ...['0.00', '0.00', '0.00', '−0.01'],
    `+1${GAP}234.50`,
  ])
})

it('shows no share as all or none that is not', () => {
  expect([0, 0.004, 0.5, 0.944, 0.995, 1].map(formatShare)).toEqual(
    ['0', '0.4', '50', '94.4', '99.5', '100'].map((digits) => `${digits}${GAP}%`),
  )
})

it.each([
  [770_000_000_000_000_000n, 18, '0.77'],
  [10n ** 20n, 18, '100'],
  [2_384_921_312n, 6, `2${GAP}384.921312`],
  [2_384_900_000n, 6, `2${GAP}384.90`],
  [322_861_804_123_456_789n, 18, '0.3228618'],
  [1_234_560n, 0, `1${GAP}234${GAP}560`],
  [1n, 18, '<0.000000000001'],
])('%s with %s decimals stands as %s in a receipt', (amount, decimals, expected) => {
  expect(formatReceipt(amount, decimals)).toBe(expected)
})

it('gives a receipt the rate that its amounts divide to, rounded', () => {
  const [sold, bought] = [770_000_000_000_000_000n, 2_384_921_312n]
  expect(formatRate(sold, bought, 18, 6, true)).toBe(`3${GAP}097.3004`)
  expect(formatRate(bought, sold, 6, 18, true)).toBe('0.00032286181')
  expect([formatRate(3n, 2n, 0, 2), formatRate(3n, 200n, 0, 0)]).toEqual(['0.00666667', '66.67'])
})

it('gives the price of one whole token for any decimals', () => {
  expect(formatRate(2n * 10n ** 18n, 5_000_000_000n, 18, 6)).toBe(`2${GAP}500.00`)
  expect(formatRate(5_000_000_000n, 2n * 10n ** 18n, 6, 18)).toBe('0.000400000')
  expect(formatRate(1n, 1n, undefined, 6)).toBeUndefined()
})
