import { describe, expect, test } from 'vitest'
import type { ServiceError } from '../../../packages/protocol/src/errors.js'
import { parseJsonBody } from '../../../src/http/rest/transcoder.js'

/** The violations of a body. */
function violationsOf(body: string | Buffer): readonly { field: string; message: string }[] {
  try {
    parseJsonBody(Buffer.from(body as string))
  } catch (error) {
    expect(error).toMatchObject({ reason: 'INVALID_ARGUMENT', httpStatus: 400 })
    return (error as ServiceError).violations
  }
  throw new Error('the body was accepted')
}

test('the reader of bodies skips a byte order mark', () => {
  expect(parseJsonBody(Buffer.from('\ufeff{"a":1}'))).toEqual({ a: 1 })
  expect(violationsOf('\ufeff\ufeff{}')).toEqual([{ field: 'body', message: 'must be valid JSON' }])
})

describe('the reader of bodies accepts', () => {
  test.each([
    ['an empty object', '{}'],
    ['fields of all kinds', '{"a":1,"b":"x","c":null,"d":[1,{"e":2}],"f":{"g":true}}'],
    ['blanks around everything', ' \r\n\t{ "a" :\t1 , "b" : [ ] } \n'],
    ['the same key at other depths', '{"a":{"a":1},"b":[{"a":1},{"a":2}]}'],
    ['a value that equals its key', '{"a":"a","b":"a"}'],
    ['texts that look like keys and brackets', '{"a":"\\"a\\":{[}]","b":"{\\"b\\":1"}'],
    ['text that holds JSON', JSON.stringify({ a: 'x","a":1', b: 1 })],
    ['escapes before a quotation mark', '{"a\\\\":1,"b":"\\\\"}'],
    ['keys that differ in case', '{"a":1,"A":2}'],
    ['an empty key', '{"":1}'],
    ['text outside ASCII', '{"größe":"漢字 🙂"}'],
  ])('%s', (_what, text) => {
    expect(parseJsonBody(Buffer.from(text))).toEqual(JSON.parse(text))
  })
})

test.each([
  ['nothing', ''],
  ['blanks', '  '],
  ['broken JSON', '{"a":'],
  ['no JSON', 'a=1'],
  ['two objects', '{}{}'],
  ['a comma too many', '{"a":1,}'],
])('%s is not valid JSON', (_what, text) => {
  expect(violationsOf(text)).toEqual([{ field: 'body', message: 'must be valid JSON' }])
})

test.each(['[]', '[{}]', '"a"', '1', 'true', 'null'])('%s is not an object', (text) => {
  expect(violationsOf(text)).toEqual([{ field: 'body', message: 'must be a JSON object' }])
})

test('a body that is not UTF-8 is rejected', () => {
  expect(violationsOf(Buffer.from('{"a":"é"}', 'latin1'))).toEqual([
    { field: 'body', message: 'must be UTF-8' },
  ])
})

test('of a field that is given twice, the last one counts', () => {
  expect(parseJsonBody(Buffer.from('{"a":1,"\\u0061":2}'))).toEqual({ a: 2 })
})
