import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DISPLAY_NAME, isDisplayName, toDisplayName } from '../../src/domain/display-name.js'

const MAX_LENGTH = 64
const SEED = 20_260_121

/** The rule of earlier versions. */
const formerName = fc
  .oneof(
    fc.string({ unit: 'binary', minLength: 1, maxLength: MAX_LENGTH }),
    fc.string({
      unit: fc.constantFrom('a', ' ', '\u00a0', '\u0301', '\u200d', '\u202e', '\u3164', '\u2800', '\u2028'),
      minLength: 1,
      maxLength: MAX_LENGTH,
    }),
  )
  .filter((text) => /^[^\p{Cc}\p{Cs}]{1,64}$/u.test(text))

test('no character that Unicode calls blank, format, bidi or ignorable is a name', () => {
  const unseen = /[\p{C}\p{Z}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}]/u
  const accepted: string[] = []
  for (let code = 0; code <= 0x10ffff; code++) {
    const character = String.fromCodePoint(code)
    if (unseen.test(character) && isDisplayName(character)) accepted.push(code.toString(16))
  }
  expect(accepted).toEqual([])
})

test('a name of an earlier version is corrected, and an accepted one stays unchanged', () => {
  fc.assert(
    fc.property(formerName, (text) => {
      const mended = toDisplayName(text)
      expect(isDisplayName(mended)).toBe(true)
      if (isDisplayName(text)) expect(mended).toBe(text)
    }),
    { seed: SEED, numRuns: 3000 },
  )
})

test.each([
  ['Ada\u202egro', 'Ada\ufffdgro'],
  ['  Ada ', 'Ada'],
  ['\u3164', '\ufffd'],
  ['   ', '\ufffd'],
  [`a${'\u0301'.repeat(60)}b`, `a${'\u0301'.repeat(4)}b`],
])('%j becomes %j', (text, mended) => {
  expect(toDisplayName(text)).toBe(mended)
})

test('the pattern agrees with the check, except for the length', () => {
  const pattern = new RegExp(DISPLAY_NAME.pattern.source, 'u')
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: MAX_LENGTH }), (text) => {
      expect(pattern.test(text)).toBe(isDisplayName(text))
    }),
    { seed: SEED, numRuns: 1000 },
  )
})
