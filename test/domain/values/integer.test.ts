import { expect, test } from 'vitest'
import { CHAIN_ID, UINT32 } from '../../../src/domain/field-rules.js'
import { isIntegerOf, parseDigits, parseInteger } from '../../../src/domain/values/integer.js'

test.each([0, 1, 4_294_967_295])('%d satisfies the rule of a uint32', (value) => {
  expect(isIntegerOf(UINT32, value)).toBe(true)
})

test.each([-1, 4_294_967_296, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 1n, '1', null, undefined])(
  '%s does not satisfy the rule of a uint32',
  (value) => {
    expect(isIntegerOf(UINT32, value)).toBe(false)
  },
)

test('0 and 2^53 do not satisfy the rule of a chain id', () => {
  expect([0, 2 ** 53].filter((value) => isIntegerOf(CHAIN_ID, value))).toEqual([])
})

test.each([
  ['0', 0],
  ['86400', 86_400],
  ['9007199254740991', Number.MAX_SAFE_INTEGER],
])('parseInteger reads %s', (text, value) => {
  expect(parseInteger(text)).toBe(value)
})

test.each(['', '00', '01', '-0', '+1', '1.0', '1e3', '0x1', ' 1', '1\n', '9007199254740992'])(
  'parseInteger refuses %j',
  (text) => {
    expect(parseInteger(text)).toBeUndefined()
  },
)

test.each([
  ['7', 7],
  ['007', 7],
])('parseDigits reads %s', (text, value) => {
  expect(parseDigits(text)).toBe(value)
})

test.each(['', '-1', '+1', '1.0', '1e3', ' 1', '١'])('parseDigits does not read %j', (text) => {
  expect(parseDigits(text)).toBeNaN()
})
