import { expect, test } from 'vitest'
import { parseAmount, parseUint256 } from '../../../src/domain/values/amount.js'

const MAX = 2n ** 256n - 1n

test.each([
  ['0', 0n],
  ['1', 1n],
  ['9007199254740993', 9007199254740993n],
  [MAX.toString(), MAX],
])('parseUint256 reads %s, and parseAmount reads it unless it is zero', (text, value) => {
  expect(parseUint256(text)).toBe(value)
  expect(parseAmount(text)).toBe(value || undefined)
})

test.each([
  ['2^256', (MAX + 1n).toString()],
  ['79 digits', '1'.padEnd(79, '0')],
  ['no digits', ''],
  ['a leading zero', '01'],
  ['two zeros', '00'],
  ['a plus sign', '+1'],
  ['a minus sign', '-1'],
  ['minus zero', '-0'],
  ['a point', '1.0'],
  ['an exponent', '1e3'],
  ['hex', '0x10'],
  ['a blank before it', ' 1'],
  ['a line feed after it', '1\n'],
  ['a separator', '1_000'],
  ['digits of another script', '١'],
  ['a JSON number', 1],
  ['a bigint', 1n],
  ['null', null],
  ['nothing', undefined],
  ['a list', ['1']],
])('parseUint256 and parseAmount refuse %s', (_what, text) => {
  expect(parseUint256(text)).toBeUndefined()
  expect(parseAmount(text)).toBeUndefined()
})
