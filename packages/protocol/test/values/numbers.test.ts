import { expect, test } from 'vitest'
import { CHAIN_ID, UINT32 } from '../../src/field-rules.js'
import {
  isIntegerOf,
  parseAmount,
  parseChainId,
  parseDigits,
  parseInteger,
  parseUint256,
} from '../../src/values/numbers.js'

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

test.each([
  ['1', 1],
  ['100', 100],
  ['8453', 8453],
  ['9007199254740991', Number.MAX_SAFE_INTEGER],
])('parseChainId reads %s', (text, chainId) => {
  expect(parseChainId(text)).toBe(chainId)
})

test.each([
  '0',
  '0100',
  '1e2',
  '100x',
  'x100',
  '0x64',
  '+1',
  '-1',
  '1.0',
  ' 1',
  '1 ',
  '1\n',
  '',
  '9007199254740992',
  '9007199254740993',
  '10000000000000000',
  'constructor',
])('parseChainId refuses %j', (text) => {
  expect(parseChainId(text)).toBeUndefined()
})
