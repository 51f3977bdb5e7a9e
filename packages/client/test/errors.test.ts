import { expect, it } from 'vitest'
import { REASONS, type Reason } from '../../../src/domain/errors.js'
import { AggregatorError, fromAnswer } from '../src/errors.js'

const answered = (body: unknown, status = 400, retryAfter: string | null = null) =>
  fromAnswer({ status, retryAfter, body })

it.each(Object.keys(REASONS) as Reason[])('reads %s as the service writes it', (reason) => {
  const read = answered({ error: 'A sentence.', code: reason }, REASONS[reason].http)
  expect(read).toBeInstanceOf(AggregatorError)
  expect(read).toMatchObject({ reason, message: 'A sentence.', violations: [] })
  expect([read.quoteId, read.retryAfterSeconds]).toEqual([undefined, undefined])
})

it('reads the bad fields, the quote that failed, and when to come back', () => {
  const details = [{ field: 'amount', message: 'must be more' }]
  const read = answered({ error: 'No.', code: 'INVALID_ARGUMENT', details, quoteId: 'an-id' }, 429, '17')
  expect(read).toMatchObject({ violations: details, quoteId: 'an-id', retryAfterSeconds: 17 })
})

it.each([
  [429, 'CONNECTION_FAILED'],
  [502, 'CONNECTION_FAILED'],
  [503, 'CONNECTION_FAILED'],
  [404, 'ANSWER_INVALID'],
  [401, 'ANSWER_INVALID'],
])('reads status %i without a reason, as of a proxy, as %s', (status, reason) => {
  expect(answered(undefined, status).reason).toBe(reason)
})

it.each([{ code: 'toString' }, { code: 'NEW' }, { code: 7 }, [], null, 'text'])(
  'does not take %j for a reason of the service',
  (body) => {
    expect(answered(body).reason).toBe('ANSWER_INVALID')
  },
)

it.each([[[null]], [[{ field: 1, message: 'a' }]], ['text'], [{}]])(
  'leaves out details that are not fields: %j',
  (details) => {
    expect(answered({ error: 'No.', code: 'INVALID_ARGUMENT', details }).violations).toEqual([])
  },
)
