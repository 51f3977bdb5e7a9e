import { expect, test } from 'vitest'
import { RestContext } from '../../src/http/rest-context.js'
import { withRemaining } from '../../src/rpc/deadline.js'

test.each([
  ['grpc-timeout', '1S', 300, '700m'],
  ['grpc-timeout', '1000m', 0.5, '999m'],
  ['grpc-timeout', '200000u', 50, '150m'],
  ['grpc-timeout', '100m', 300, '0m'],
  ['grpc-timeout', '99999999H', 300, '2147483S'],
  ['grpc-timeout', '30H', 0, '108000S'],
  ['connect-timeout-ms', '1000', 300, '700'],
  ['connect-timeout-ms', '100', 300, '0'],
  ['connect-timeout-ms', '9999999999', 0, '2147483647'],
])('of %s: %s, after %d ms there is left %s', (name, value, elapsedMs, left) => {
  const header = new Headers({ [name]: value, other: 'a' })
  expect([...(withRemaining(header, elapsedMs) ?? [])]).toEqual([
    ...new Headers({ [name]: left, other: 'a' }),
  ])
})

test.each([
  ['grpc-timeout', 'soon'],
  ['grpc-timeout', '123456789m'],
  ['connect-timeout-ms', '-1'],
  ['other', '1'],
])('%s: %s stays as it is', (name, value) => {
  expect(withRemaining(new Headers({ [name]: value }), 300)).toBeUndefined()
})

test('of the deadline of a REST request, what it has waited in the service is gone', () => {
  const request = { headers: { 'connect-timeout-ms': '1000' }, arrivedAt: performance.now() - 300 }
  const { timeoutMs } = new RestContext(request as never, {} as never)
  expect(timeoutMs).toBeLessThanOrEqual(700)
})
