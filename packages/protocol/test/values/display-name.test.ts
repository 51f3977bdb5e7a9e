import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DISPLAY_NAME, isDisplayName } from '../../src/values/display-name.js'

const MAX_LENGTH = 64
const SEED = 20_260_121

test('no character that Unicode calls blank, format, bidi or ignorable is a name', () => {
  const unseen = /[\p{C}\p{Z}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}]/u
  const accepted: string[] = []
  for (let code = 0; code <= 0x10ffff; code++) {
    const character = String.fromCodePoint(code)
    if (unseen.test(character) && isDisplayName(character)) accepted.push(code.toString(16))
  }
  expect(accepted).toEqual([])
})

test.each(['Ada\u202egro', '  Ada ', '\u3164', '   ', `a${'\u0301'.repeat(60)}b`])(
  '%j is no name',
  (text) => {
    expect(isDisplayName(text)).toBe(false)
  },
)

test('the pattern agrees with the check, except for the length', () => {
  const pattern = new RegExp(DISPLAY_NAME.pattern.source, 'u')
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: MAX_LENGTH }), (text) => {
      expect(pattern.test(text)).toBe(isDisplayName(text))
    }),
    { seed: SEED, numRuns: 1000 },
  )
})
