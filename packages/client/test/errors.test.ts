import { Code, ConnectError } from '@connectrpc/connect'
import { expect, it } from 'vitest'
import { ErrorInfoSchema } from '../../../gen/google/rpc/error_details_pb.js'
import { invalidArgument, REASONS, type Reason, ServiceError } from '../../../src/domain/errors.js'
import { toConnectError } from '../../../src/rpc/connect-errors.js'
import { AggregatorError, toAggregatorError } from '../src/errors.js'

it.each(Object.keys(REASONS) as Reason[])('reads %s as the service writes it', (reason) => {
  const read = toAggregatorError(toConnectError(new ServiceError(reason, 'A sentence.')))
  expect(read).toBeInstanceOf(AggregatorError)
  expect(read).toMatchObject({ reason, message: 'A sentence.', violations: [] })
  expect([read.quoteId, read.retryAfterSeconds]).toEqual([undefined, undefined])
})

it('reads the bad fields, and when to come back', () => {
  const violations = [{ field: 'amount', message: 'must be more' }]
  expect(toAggregatorError(toConnectError(invalidArgument(violations))).violations).toEqual(violations)
  const limited = new ServiceError('RATE_LIMITED', 'Too many.', { retryAfterSeconds: 17 })
  expect(toAggregatorError(toConnectError(limited)).retryAfterSeconds).toBe(17)
})

it('reads the quote that failed', () => {
  const error = new ServiceError('NO_QUOTES', 'None.', { quoteId: 'an-id' })
  expect(toAggregatorError(toConnectError(error))).toMatchObject({ reason: 'NO_QUOTES', quoteId: 'an-id' })
})

it.each([
  [Code.Canceled, 'CANCELLED'],
  [Code.DeadlineExceeded, 'TIMED_OUT'],
  [Code.Unavailable, 'CONNECTION_FAILED'],
  [Code.Unknown, 'CONNECTION_FAILED'],
  [Code.Unimplemented, 'ANSWER_INVALID'],
  [Code.NotFound, 'ANSWER_INVALID'],
])('says what it means when code %i comes without a reason', (code, reason) => {
  expect(toAggregatorError(new ConnectError('what the network says', code)).reason).toBe(reason)
})

it('does not make up a reason that it does not know', () => {
  const error = new ConnectError('new', Code.Internal)
  error.details.push({ desc: ErrorInfoSchema, value: { reason: 'toString', domain: 'aggregator' } })
  expect(toAggregatorError(error).reason).toBe('ANSWER_INVALID')
})

it('leaves errors that are none of a call as they are', () => {
  const mistake = new RangeError('no integer')
  expect(() => toAggregatorError(mistake)).toThrow(mistake)
})
