import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { CHAIN_ID, UINT32 } from '../../src/field-rules.js'
import {
  escapeUnprintable,
  isIntegerOf,
  parseAmount,
  parseChainId,
  parseDigits,
  parseInteger,
  parseUint256,
  replaceUnprintable,
  shorten,
} from '../../src/values/text.js'

const UNPRINTABLE = {
  'a control character': '\x1b',
  DEL: '\x7f',
  'a control character of the C1 set': '\x9b',
  'a soft hyphen': '\xad',
  'a zero width space': '\u200b',
  'a bidi override': '\u202e',
  'a line separator': '\u2028',
  'a paragraph separator': '\u2029',
  'a byte order mark': '\ufeff',
  'a private use character': '\ue000',
  'an unassigned character': '\u0378',
  'a noncharacter': '\uffff',
  'half of a pair': '\ud800',
  'a Hangul filler': '\u3164',
  'a tag character': '\u{e0041}',
  'a variation selector of ideographs': '\u{e0100}',
}
const anyText = fc.string({
  unit: fc.oneof(
    fc.constantFrom(...Object.values(UNPRINTABLE), '\n', 'a'),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
  ),
})

describe.each(Object.entries(UNPRINTABLE))('%s', (_, character) => {
  it('is replaced in text and escaped in JSON', () => {
    expect(replaceUnprintable(`a${character}b`)).toBe('a?b')
    const json = escapeUnprintable(JSON.stringify(`a${character}b`))
    expect(json).toMatch(/^[\x20-\x7e]*$/)
    expect(JSON.parse(json)).toBe(`a${character}b`)
  })
})

it('other text stays unchanged, also emoji with their style', () => {
  for (const text of ['Größe', '漢字', '🙂', '❤️', 'é']) {
    expect(replaceUnprintable(text)).toBe(text)
    expect(escapeUnprintable(JSON.stringify(text))).toBe(JSON.stringify(text))
  }
})

it('escaped JSON has the same value, with and without indentation', () => {
  const property = fc.property(anyText, anyText, fc.constantFrom(0, 2), (key, value, indent) => {
    const json = JSON.stringify({ [key]: [value] }, undefined, indent)
    expect(JSON.parse(escapeUnprintable(json))).toEqual(JSON.parse(json))
    expect(escapeUnprintable(json).split('\n')).toHaveLength(json.split('\n').length)
  })
  fc.assert(property, { seed: 20_261_121, numRuns: 1000 })
})

it('text is truncated after a number of units, never within a character', () => {
  expect([shorten('abc', 3), shorten('abcd', 3)]).toEqual(['abc', 'abc…'])
  expect([shorten('ab🙂c', 3), shorten('ab🙂c', 4)]).toEqual(['ab…', 'ab🙂…'])
})

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
