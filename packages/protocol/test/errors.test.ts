import { describe, expect, test } from 'vitest'
import { chainNotSupported, invalidArgument, ServiceError, toServiceError } from '../src/errors.js'

describe('a service error', () => {
  test("has its reason's HTTP status and no violations by default", () => {
    const error = new ServiceError('NO_QUOTES', 'No solver gave a valid quote in time.')
    expect(error).toBeInstanceOf(Error)
    expect(error).toMatchObject({
      name: 'ServiceError',
      reason: 'NO_QUOTES',
      httpStatus: 503,
      violations: [],
    })
    expect(error.cause).toBeUndefined()
  })

  test('may have a more exact HTTP status', () => {
    expect(new ServiceError('INVALID_ARGUMENT', 'Too long.', { httpStatus: 413 }).httpStatus).toBe(413)
  })
})

test.each([
  ['an error', new Error('password=hunter2')],
  ['a text', 'password=hunter2'],
  ['nothing', undefined],
])('%s that is thrown unexpectedly becomes INTERNAL, which does not repeat it', (_what, thrown) => {
  const error = toServiceError(thrown)
  expect(error).toMatchObject({ reason: 'INTERNAL', httpStatus: 500, violations: [], cause: thrown })
  expect(error.message).not.toContain('hunter2')
})

test('the error for bad input names every bad field', () => {
  const violations = [
    { field: 'amount', message: 'must be an amount' },
    { field: 'userAddress', message: 'must be an address' },
  ]
  expect(invalidArgument(violations)).toMatchObject({
    reason: 'INVALID_ARGUMENT',
    httpStatus: 400,
    message: 'The request is not valid: see amount, userAddress.',
    violations,
  })
})

test.each([
  [[1], 'Supported: 1.'],
  [[1, 8453], 'Supported: 1, 8453.'],
  [Array.from({ length: 22 }, (_, index) => index + 1), '19, 20 and 2 more, see /health.'],
])('the error for an unsupported chain names it and the supported ones: %j', (chainIds, words) => {
  const { reason, message } = chainNotSupported(999, chainIds)
  expect(reason).toBe('CHAIN_NOT_SUPPORTED')
  expect(message.startsWith('Chain 999 is not supported here. Supported: 1')).toBe(true)
  expect(message.endsWith(words)).toBe(true)
})
