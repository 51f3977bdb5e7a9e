import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startChain, type TestChain } from '../../support/chain/chain.js'
import { createRawHttpClient, readRefusal } from '../../support/clients/raw-http-client.js'
import { startService, type TestService } from '../../support/service/service.js'

const SEED = 20_260_102
const SERVED: Readonly<Record<string, readonly string[]>> = {
  quote: ['POST'],
  solvers: ['GET', 'HEAD'],
  'solvers/register': ['POST'],
  'solvers/{}': ['DELETE'],
  'order/{}': ['GET', 'HEAD'],
}

let chain: TestChain
let service: TestService
let http: ReturnType<typeof createRawHttpClient>

beforeAll(async () => {
  chain = await startChain({ bonded: 0 })
  service = await startService(chain)
  http = createRawHttpClient(service.url)
})

afterAll(async () => {
  http?.close()
  await service?.close()
  await chain?.stop()
})

function hold<T>(arbitrary: fc.Arbitrary<T>, numRuns: number, test: (value: T) => Promise<void>) {
  return fc.assert(fc.asyncProperty(arbitrary, test), { seed: SEED, numRuns })
}

/** The characters of a path segment that do not end the path. */
const plain = fc.string({ unit: fc.constantFrom(...'azAZ0189-._~;:@!$&()*+,='), maxLength: 40 })
const encoded = fc.string({ unit: 'binary', maxLength: 30 }).map(encodeURIComponent)
const odd = fc.constantFrom(
  '',
  '.',
  '..',
  '%00',
  '%2e%2e',
  '%2F',
  '%252f',
  '%5c',
  '0',
  '1e2',
  '031337',
  '31337.0',
)
const long = fc.integer({ min: 90, max: 6_000 }).map((length) => 'a'.repeat(length))
const wellFormed = fc.oneof({ weight: 3, arbitrary: plain }, encoded, odd, long)
const malformed = fc
  .tuple(plain, fc.constantFrom('%', '%z', '%zz', '%f', '%ff', '%c0%80', '%ed%a0%80', '%e4%bd'), plain)
  .map((parts) => parts.join(''))

const supported = fc.constantFrom('31337', '%331337', '3%31337', '%33%31%33%33%37')
const restOfPath = (variable: fc.Arbitrary<string>) =>
  fc
    .tuple(fc.constantFrom(...Object.keys(SERVED)), variable)
    .map(([template, value]) => ({ template, rest: template.replace('{}', () => value) }))
const anyVerb = fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE')
const strangeVerb = fc.constantFrom(
  'TRACE',
  'PROPFIND',
  'M-SEARCH',
  'LOCK',
  'LINK',
  'PURGE',
  'REPORT',
  'OPTIONS',
)

function isChain(segment: string): boolean {
  try {
    return decodeURIComponent(segment) === '31337'
  } catch {
    return false
  }
}

describe('an unsupported chain is the first reason to reject a path', () => {
  const chainSegment = (segment: fc.Arbitrary<string>) => segment.filter((text) => !isChain(text))
  const judge = async ([verb, segment, { rest }]: [string, string, { rest: string }]) => {
    const answer = await http.send(verb, `/v1/${segment}/${rest}`)
    expect(answer.status).toBe(404)
    if (verb !== 'HEAD') expect(readRefusal(answer)).toEqual({ code: 'CHAIN_NOT_SUPPORTED', fields: [] })
  }

  it('for any text in its segments', () =>
    hold(fc.tuple(anyVerb, chainSegment(wellFormed), restOfPath(wellFormed)), 500, judge))

  it('when its own segment is not percent-encoded text', () =>
    hold(fc.tuple(anyVerb, malformed, restOfPath(wellFormed)), 100, judge))

  it('when another segment is not percent-encoded text', () =>
    hold(fc.tuple(anyVerb, fc.constantFrom('2', '031337'), restOfPath(malformed)), 100, judge))
})

describe('a path of a supported chain', () => {
  it('is rejected with the field for any text instead of an address or an order id', () =>
    hold(fc.tuple(supported, wellFormed), 300, async ([segment, text]) => {
      const order = await http.send('GET', `/v1/${segment}/order/${text}`)
      expect(readRefusal(order)).toEqual({ code: 'INVALID_ARGUMENT', fields: ['orderId'] })
      const solver = await http.json('DELETE', `/v1/${segment}/solvers/${text}`, {})
      expect(readRefusal(solver).fields).toEqual(['address', 'signature', 'timestamp'])
    }))

  it('is rejected for text that is not percent-encoded', () =>
    hold(fc.tuple(supported, malformed), 50, async ([segment, text]) => {
      const answer = await http.send('GET', `/v1/${segment}/order/${text}`)
      expect(readRefusal(answer).code).toBe('INVALID_ARGUMENT')
    }))

  it('accepts only its own verbs', () =>
    hold(
      fc.tuple(anyVerb, supported, restOfPath(plain)),
      200,
      async ([verb, segment, { template, rest }]) => {
        const answer = await http.send(verb, `/v1/${segment}/${rest}`)
        const isServed = SERVED[template]?.includes(verb)
        expect(answer.status === 405, `${verb} ${rest}: ${answer.status}`).toBe(!isServed)
        expect(answer.status).toBeLessThan(500)
        if (!isServed && verb !== 'HEAD') expect(readRefusal(answer).code).toBe('METHOD_NOT_ALLOWED')
      },
    ))

  it('lists the solvers for any query', () =>
    hold(fc.tuple(supported, fc.oneof(wellFormed, malformed)), 100, async ([segment, query]) => {
      const answer = await http.send('GET', `/v1/${segment}/solvers?${query}&chainId=2&chain_id=x`)
      expect([answer.status, JSON.parse(answer.text)]).toEqual([200, []])
    }))
})

describe('the one form of errors is used for', () => {
  const path = fc
    .array(fc.oneof({ weight: 4, arbitrary: wellFormed }, malformed, supported), {
      minLength: 1,
      maxLength: 5,
    })
    .map((segments) => `/${segments.join('/')}`.slice(0, 12_000))

  /** The root redirects to the reference. */
  const leadsNowhere = (target: string) => !/^\/([?#]|$)/.test(target)

  it('any unknown path', () =>
    hold(fc.tuple(anyVerb, path.filter(leadsNowhere)), 400, async ([verb, target]) => {
      const answer = await http.send(verb, target)
      expect([400, 404]).toContain(answer.status)
      if (verb !== 'HEAD') expect(['ROUTE_NOT_FOUND', 'INVALID_ARGUMENT']).toContain(readRefusal(answer).code)
    }))

  it('any unknown verb', () =>
    hold(
      fc.tuple(strangeVerb, fc.oneof(path, fc.constantFrom('/health', '/v1/31337/quote', '*'))),
      150,
      async ([verb, target]) => {
        const answer = await http.send(verb, target)
        if (verb !== 'OPTIONS' || answer.status !== 204) readRefusal(answer)
      },
    ))

  it.each(['/nothing', '/health', '/v1/31337/nothing'])(
    'a body of any kind at %s, as an unknown route',
    (target) => {
      const types = ['application/json', 'text/plain', 'application/grpc', 'a/b']
      return hold(
        fc.tuple(fc.constantFrom(...types), fc.uint8Array({ maxLength: 50 })),
        30,
        async ([type, body]) => {
          const answer = await http.send('POST', target, { headers: { 'content-type': type }, body })
          expect(readRefusal(answer).code).toBe('ROUTE_NOT_FOUND')
        },
      )
    },
  )

  it('an expectation that cannot be met', async () => {
    const answer = await http.send('GET', '/nothing', { headers: { expect: 'a miracle' } })
    readRefusal(answer)
  })
})
