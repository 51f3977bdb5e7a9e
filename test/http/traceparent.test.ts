import { expect, it } from 'vitest'
import { readTraceparent } from '../../src/http/request.js'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const PARENT = 'b7ad6b7169203331'
const VALID = `00-${TRACE}-${PARENT}-00`

it('the header traceparent is taken as it is sent', () => {
  expect(readTraceparent(VALID)).toBe(VALID)
})

it.each([
  ['it is left out', undefined],
  ['it is of another version', VALID.replace('00-', '01-')],
  ['its trace id is zero', VALID.replace(TRACE, '0'.repeat(32))],
  ['its parent id is zero', VALID.replace(PARENT, '0'.repeat(16))],
  ['it has capital letters', VALID.toUpperCase()],
  ['it has more after it', `${VALID}-x`],
])('no traceparent is taken when %s', (_when, header) => {
  expect(readTraceparent(header)).toBeUndefined()
})
