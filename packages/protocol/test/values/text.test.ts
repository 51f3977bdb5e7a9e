import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { escapeUnprintable, replaceUnprintable, shorten } from '../../src/values/text.js'

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
