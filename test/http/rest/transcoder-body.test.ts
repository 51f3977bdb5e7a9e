import { expect, test } from 'vitest'
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
  expect(parseJsonBody(Buffer.from('\ufeff{"größe":"漢字 🙂"}'))).toEqual({ größe: '漢字 🙂' })
  expect(violationsOf('\ufeff\ufeff{}')).toEqual([{ field: 'body', message: 'must be valid JSON' }])
})

test.each([
  ['nothing', ''],
  ['half an object', '{"a":'],
])('%s is not valid JSON', (_what, text) => {
  expect(violationsOf(text)).toEqual([{ field: 'body', message: 'must be valid JSON' }])
})

test.each(['[]', '1', 'null'])('%s is not an object', (text) => {
  expect(violationsOf(text)).toEqual([{ field: 'body', message: 'must be a JSON object' }])
})

test('a body that is not UTF-8 is rejected', () => {
  expect(violationsOf(Buffer.from('{"a":"é"}', 'latin1'))).toEqual([
    { field: 'body', message: 'must be UTF-8' },
  ])
})
