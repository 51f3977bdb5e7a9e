import { describe, expect, test } from 'vitest'
import type { Exchange } from './exchange.js'
import { toVerdict } from './judge.js'

const OURS = ['x-request-id', '0123456789abcdef-1']
const exchange = (status: number, responseHeaders = OURS): Exchange => ({
  method: 'POST',
  url: '/v1/1/quote',
  requestHeaders: [],
  requestBody: '',
  status,
  responseHeaders,
  responseBody: '',
})
const violation = (side: string, severity: 'Error' | 'Warning' = 'Error') => ({
  location: [side, 'body'],
  severity,
  message: 'must be text',
})
const kind = (of: Exchange, ...violations: ReturnType<typeof violation>[]) =>
  toVerdict(of, { violations }).kind

describe('an exchange', () => {
  test('passes without a violation', () => {
    expect(kind(exchange(200))).toBe('passed')
  })

  test('fails with what is wrong in its response, also a status that the document lacks', () => {
    expect(toVerdict(exchange(400), { violations: [violation('response')] })).toEqual({
      kind: 'failed',
      reason: 'POST /v1/1/quote (400): response.body: must be text',
    })
    expect(kind(exchange(400), violation('response', 'Warning'))).toBe('failed')
  })

  test('fails when the service accepts a request that the document forbids, and passes when it refuses it', () => {
    expect(kind(exchange(200), violation('request'))).toBe('failed')
    expect(kind(exchange(400), violation('request'))).toBe('passed')
  })

  test('of a server that is not the service is judged by its request alone', () => {
    expect(kind(exchange(400, []), violation('request'))).toBe('failed')
    expect(kind(exchange(200, []), violation('response'))).toBe('passed')
  })

  test('is not judged where the document has no such path, or where both refuse the request', () => {
    const absent = { ...violation('request', 'Warning'), message: 'Selected route not found' }
    expect(kind(exchange(404), absent)).toBe('not applicable')
    expect(toVerdict(exchange(400), { violations: [], refusal: 'no JSON' }).kind).toBe('not applicable')
    expect(toVerdict(exchange(200), { violations: [], refusal: 'no JSON' })).toEqual({
      kind: 'failed',
      reason: 'POST /v1/1/quote (200): no JSON',
    })
  })
})
