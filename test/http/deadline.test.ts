import { expect, test } from 'vitest'
import { RestContext } from '../../src/http/request.js'
import { clampTimeout } from '../../src/http/rpc-routes.js'
import { only } from '../support/only.js'

test.each([
  ['grpc-timeout', '99999999H', '2147483S'],
  ['grpc-timeout', '597H', '2147483S'],
  ['grpc-timeout', '2147484S', '2147483S'],
  ['grpc-timeout', '2147483S', '2147483S'],
  ['grpc-timeout', '596H', '596H'],
  ['grpc-timeout', '99999999m', '99999999m'],
  ['grpc-timeout', 'soon', 'soon'],
  ['connect-timeout-ms', '9999999999', '2147483647'],
  ['connect-timeout-ms', '2147483647', '2147483647'],
  ['connect-timeout-ms', '99999999999', '99999999999'],
])('of %s: %s, a call keeps %s', (name, value, kept) => {
  const headers = { [name]: value, other: 'a' }
  clampTimeout(headers)
  expect(headers).toEqual({ [name]: kept, other: 'a' })
})

test('of the deadline of a REST request, what it has waited in the service is gone', () => {
  const request = { headers: { 'connect-timeout-ms': '1000' }, arrivedAt: performance.now() - 300 }
  const { timeoutMs } = new RestContext(only(request), only({}))
  expect(timeoutMs).toBeLessThanOrEqual(700)
})
