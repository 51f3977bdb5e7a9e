import { describe, expect, it } from 'vitest'
import { findHeaderError, findTargetError } from '../../../src/http/port/header-rules.js'
import { only } from '../../support/only.js'

type Request = Parameters<typeof findHeaderError>[0]

/** A request of HTTP/1.1 with these headers. */
const http1 = (...headers: [string, string][]) =>
  ({
    rawHeaders: headers.flat(),
    headers: Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value])),
  }) as Request
const http2 = (authority: string) => only<Request>({ rawHeaders: [], headers: {}, authority })

/** What a URL's parser refuses, and text of which it takes a part for the host. */
const UNUSABLE = [
  ...['[', '%zz', 'a:99999', 'a:x', '[::1', 'user@:x', 'user:pw@a', 'a b', 'a\tb'],
  ...['a/b', 'a?x', 'a#x', 'a\\b'],
]

describe('a host', () => {
  it.each(['a', 'a.example:8080', '127.0.0.1', '[::1]', '[::1]:3000', 'under_score', ''])(
    'may be %j',
    (host) => {
      expect(findHeaderError(http1(['Host', host]))).toBeUndefined()
      expect(findHeaderError(http2(host))).toBeUndefined()
    },
  )

  it.each(UNUSABLE)('is refused for %j', (host) => {
    expect(findHeaderError(http1(['Host', host]))).toMatchObject({
      reason: 'INVALID_ARGUMENT',
      violations: [{ field: 'Host' }],
    })
    expect(findHeaderError(http2(host))).toMatchObject({
      reason: 'INVALID_ARGUMENT',
      violations: [{ field: ':authority' }],
    })
  })

  it('may be absent, and is given at most once', () => {
    expect(findHeaderError(http1())).toBeUndefined()
    for (const second of ['a', 'b'])
      expect(findHeaderError(http1(['host', 'a'], ['HOST', second]))).toMatchObject({
        violations: [{ field: 'Host', message: 'must be given once' }],
      })
  })

  it('is needed by an RPC', () => {
    expect(findTargetError(http1())).toMatchObject({ violations: [{ field: 'Host' }] })
    expect(findTargetError(http1(['Host', '']))).toMatchObject({ violations: [{ field: 'Host' }] })
    expect(findTargetError(http2(''))).toMatchObject({ violations: [{ field: ':authority' }] })
  })
})

it('a body is chunked, or has a length: no other coding is read', () => {
  const coded = (coding: string) => findHeaderError(http1(['host', 'a'], ['Transfer-Encoding', coding]))
  expect(coded('Chunked')).toBeUndefined()
  for (const coding of ['xchunked, chunked', 'gzip', 'chunked, chunked'])
    expect(coded(coding)).toMatchObject({ httpStatus: 501, violations: [{ field: 'Transfer-Encoding' }] })
})

it('the target of an RPC is a path, or a valid URL', () => {
  const to = (url: string) => findTargetError({ ...http1(['host', 'a']), url } as Request)
  expect(to('/a.Service/Method')).toBeUndefined()
  expect(to('http://a/b')).toBeUndefined()
  for (const url of ['http://[/a', '*'])
    expect(to(url)).toMatchObject({ reason: 'INVALID_ARGUMENT', violations: [{ field: 'path' }] })
})
