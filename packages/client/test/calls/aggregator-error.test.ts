import { expect, it, onTestFinished, vi } from 'vitest'
import { REASONS, type Reason } from '../../../protocol/src/errors.js'
import { AggregatorError, fromAnswer } from '../../src/calls/aggregator-error.js'
import { isRetryable } from '../../src/calls/retry-delay.js'

const NOW_MS = Date.UTC(2026, 0, 1)

const answered = (body: unknown, status = 400, retryAfter: string | null = null) =>
  fromAnswer({ url: 'https://quotes.example', status, retryAfter, body })

it.each(Object.keys(REASONS) as Reason[])('fromAnswer reads %s as the service writes it', (reason) => {
  const read = answered({ error: 'A sentence.', code: reason }, REASONS[reason].http)
  expect(read).toBeInstanceOf(AggregatorError)
  expect(read).toMatchObject({ reason, message: 'A sentence.', violations: [] })
  expect([read.quoteId, read.retryAfterSeconds]).toEqual([undefined, undefined])
})

it('fromAnswer reads the bad fields, the quote that failed, and when to try again', () => {
  const details = [{ field: 'amount', message: 'must be more' }]
  const body = { error: 'Not valid: see amount.', code: 'INVALID_ARGUMENT', details, quoteId: 'an-id' }
  const read = answered(body, 429, '17')
  expect(read).toMatchObject({
    violations: details,
    quoteId: 'an-id',
    retryAfterSeconds: 17,
    httpStatus: 429,
  })
  expect(read.message).toBe('Not valid: see amount: amount must be more.')
})

it('an error has no characters of an instance that would control a terminal or turn the text around', () => {
  const details = [{ field: 'am\u0007ount', message: 'must\u202e be\n more' }]
  const read = answered({ error: '\u001b[2JNot valid.', code: 'INVALID_ARGUMENT', details })
  expect(read.message).toMatch(/^\?\[2JNot valid/)
  expect(read.violations).toEqual([{ field: 'am?ount', message: 'must? be? more' }])
})

it('fromAnswer does not repeat what the sentence of the service says', () => {
  const details = [{ field: 'Host', message: 'must be a host' }]
  const body = { error: 'The header Host must be a host.', code: 'INVALID_ARGUMENT', details }
  expect(answered(body).message).toBe(body.error)
})

it.each([
  [429, 'CONNECTION_FAILED'],
  [502, 'CONNECTION_FAILED'],
  [503, 'CONNECTION_FAILED'],
  [404, 'ANSWER_INVALID'],
  [401, 'ANSWER_INVALID'],
])('fromAnswer reads status %i without a reason, as of a proxy, as %s', (status, reason) => {
  expect(answered(undefined, status).reason).toBe(reason)
})

it.each([
  [
    503,
    'CONNECTION_FAILED',
    'https://quotes.example cannot be reached: HTTP status 503, "No solvers\\? available".',
  ],
  [404, 'ANSWER_INVALID', 'understands: HTTP status 404, "No solvers\\? available".'],
])('fromAnswer names the words of an answer without a code, of status %i', (status, reason, message) => {
  const read = answered({ error: 'No solvers\u0007 available' }, status)
  expect(read.reason).toBe(reason)
  expect(read.message).toMatch(new RegExp(message))
})

it('fromAnswer keeps a reason that it does not know, with its text', () => {
  const read = answered({ error: 'The moon is full.', code: 'MOON_ECLIPSED' }, 503, '5')
  expect(read).toMatchObject({ reason: 'MOON_ECLIPSED', message: 'The moon is full.', httpStatus: 503 })
  expect([isRetryable(read), read.retryAfterSeconds]).toEqual([true, 5])
  expect(isRetryable(answered({ error: 'No.', code: 'MOON_ECLIPSED' }, 400))).toBe(false)
})

it.each([
  { code: 429, message: 'Too many' },
  { error: { code: 'rate_limited' } },
  { error: 'slow down', code: 'rate-limited' },
  { message: 'Service Unavailable', code: 'UNAVAILABLE' },
  // Reasons of the client, and no code of a service.
  { error: 'No.', code: 'CANCELLED' },
  { error: 'No.', code: 'X'.repeat(65) },
])('429 and 503 of a gateway that answers %j can be retried', (body) => {
  for (const status of [429, 503]) {
    const read = answered(body, status, '7')
    expect(read).toMatchObject({ reason: 'CONNECTION_FAILED', retryAfterSeconds: 7, httpStatus: status })
    expect(isRetryable(read)).toBe(true)
  }
})

it.each([
  ['17', 17],
  ['0', 0],
  [new Date(NOW_MS + 60_000).toUTCString(), 60],
  [new Date(0).toUTCString(), 0],
  ['soon', undefined],
  ['-1', undefined],
  ['1.5', undefined],
  ['Someday, soon', undefined],
])('fromAnswer reads Retry-After %j as %s', (text, expected) => {
  vi.useFakeTimers({ now: NOW_MS, toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  expect(answered(undefined, 503, text).retryAfterSeconds).toBe(expected)
})

it.each([{ code: 'toString' }, { code: 'NEW' }, { code: 7 }, [], null, 'text'])(
  'fromAnswer does not take %j for an error of the service',
  (body) => {
    expect(answered(body).reason).toBe('ANSWER_INVALID')
  },
)

it.each([[[null]], [[{ field: 1, message: 'a' }]], ['text'], [{}]])(
  'fromAnswer leaves out details that are not fields: %j',
  (details) => {
    expect(answered({ error: 'No.', code: 'INVALID_ARGUMENT', details }).violations).toEqual([])
  },
)

it('fromAnswer keeps at most 50 bad fields, and of each text 1,000 characters, before it compares them', () => {
  const long = 'x'.repeat(5_000)
  const details = Array.from({ length: 1_000 }, () => ({ field: long, message: long }))
  const { message, violations } = answered({ error: long, code: 'INVALID_ARGUMENT', details })
  const kept = { field: 'x'.repeat(1_000), message: 'x'.repeat(1_000) }
  expect(violations).toEqual(Array.from({ length: 50 }, () => kept))
  expect(message).toHaveLength(1_000)
})
