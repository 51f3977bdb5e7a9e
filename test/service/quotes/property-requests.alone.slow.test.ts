import fc from 'fast-check'
import { getAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../../packages/protocol/src/clock.js'
import { solverAccounts, startChain, type TestChain } from '../../support/chain/chain.js'
import {
  changes,
  type FieldRule,
  invalidFields,
  requestRules,
  spelling,
} from '../../support/clients/arbitraries.js'
import { createRawHttpClient, readRefusal } from '../../support/clients/raw-http-client.js'
import { startService, type TestService } from '../../support/service/service.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import {
  signedRegistration,
  signedUnregistration,
  startSolver,
  type TestSolver,
} from '../../support/solvers/solver.js'

const NOW = 1_800_000_000_000
const SEED = 20_260_101
const HOUR_MS = 3_600_000
const QUICK_MS = 500
const [first, second] = solverAccounts
const rules = requestRules(31337)

let chain: TestChain
let service: TestService
let solver: TestSolver
let http: ReturnType<typeof createRawHttpClient>
let timestamp = NOW - 200_000

beforeAll(async () => {
  chain = await startChain({ bonded: 2 })
  service = await startService(chain, {}, { clock: { ...systemClock, now: () => NOW } })
  solver = await startSolver(chain, first, async (ask, { quoteFor, sign }) => {
    const amounts = ask.orderType === 'EXACT_INPUT' ? { outputAmount: '1000' } : { inputAmount: '1000' }
    return sign({ ...quoteFor(ask), ...amounts, nonce: '7' })
  })
  const registration = await signedRegistration(first, {
    endpointUrl: solver.endpointUrl,
    timestamp: ++timestamp,
  })
  expect((await service.post('/v1/31337/solvers/register', registration)).status).toBe(200)
  http = createRawHttpClient(service.url)
})

afterAll(async () => {
  http?.close()
  await service?.close()
  await solver?.close()
  await chain?.stop()
})

function hold<T>(arbitrary: fc.Arbitrary<T>, numRuns: number, test: (value: T) => Promise<void>) {
  return fc.assert(fc.asyncProperty(arbitrary, test), { seed: SEED, numRuns })
}

interface BodyCase {
  name: string
  verb: string
  path: string
  rules: Readonly<Record<string, FieldRule>>
  /** A body whose fields are all well-formed, and the result of such a request. */
  body(): Promise<Record<string, unknown>>
  wellFormed: number
}

const withBody: BodyCase[] = [
  {
    name: 'GetQuote',
    verb: 'POST',
    path: '/v1/31337/quote',
    rules: rules.quote,
    body: async () => quoteRequest(chain),
    wellFormed: 200,
  },
  {
    name: 'RegisterSolver, signed an hour ago',
    verb: 'POST',
    path: '/v1/31337/solvers/register',
    rules: rules.registration,
    body: () => signedRegistration(second, { endpointUrl: 'https://a.example', timestamp: NOW - HOUR_MS }),
    wellFormed: 401,
  },
  {
    name: 'UnregisterSolver, signed an hour ago',
    verb: 'DELETE',
    path: `/v1/31337/solvers/${second.address}`,
    rules: rules.unregistration,
    body: () => signedUnregistration(second, NOW - HOUR_MS),
    wellFormed: 401,
  },
]

describe.each(withBody)('$name', ({ verb, path, rules, body, wellFormed }) => {
  async function judge(changed: Record<string, unknown>) {
    const sent = { ...(await body()), ...changed }
    const answer = await http.json(verb, path, sent)
    const expected = invalidFields(rules, sent)
    if (expected.length === 0) expect(answer.status, answer.text).toBe(wellFormed)
    else expect(readRefusal(answer)).toEqual({ code: 'INVALID_ARGUMENT', fields: expected })
  }

  it('is well-formed as it stands', () => judge({}))

  it('with any value in one field is rejected with that field, unless the value is valid', () =>
    hold(changes(rules, { min: 1, max: 1 }), 400, judge))

  it('with any values in several fields is rejected with all bad ones', () =>
    hold(changes(rules, { min: 2, max: Object.keys(rules).length }), 250, judge))

  it('is rejected when its body is any JSON value but an object', () =>
    hold(
      fc.jsonValue().filter((value) => typeof value !== 'object' || value === null || Array.isArray(value)),
      100,
      async (value) => {
        const refusal = readRefusal(await http.json(verb, path, JSON.stringify(value)))
        expect(refusal).toEqual({ code: 'INVALID_ARGUMENT', fields: ['body'] })
      },
    ))

  it('is rejected when its body is any bytes of any content type', () => {
    const headerCharacter = fc
      .integer({ min: 0x20, max: 0xff })
      .filter((code) => code !== 0x7f)
      .map((code) => String.fromCharCode(code))
    const known = ['application/json', 'application/json; charset=utf-8', 'text/plain', 'application/grpc']
    const contentType = fc.oneof(
      fc.constantFrom(
        ...known,
        'application/proto',
        'application/connect+json',
        'multipart/form-data',
        '*',
        ';',
      ),
      fc.string({ unit: headerCharacter }),
    )
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc.json().map(Buffer.from),
      fc.string().map(Buffer.from),
    )
    return hold(fc.tuple(contentType, bytes), 300, async ([type, sent]) => {
      const answer = await http.send(verb, path, { headers: { 'content-type': type }, body: sent })
      expect(readRefusal(answer).code).toBe('INVALID_ARGUMENT')
    })
  })

  it('is rejected quickly, with the field, when its JSON is extraordinary', async () => {
    const [field = ''] = Object.keys(rules)
    const deep = '['.repeat(30_000) + ']'.repeat(30_000)
    const bodies: [string | Buffer, string[]][] = [
      [`{"${field}":1,"${field}":1}`, [field]],
      [`{"${field}":1,"\\u00${field.charCodeAt(0).toString(16)}${field.slice(1)}":1}`, [field]],
      ['{"__proto__":{"amount":"1"}}', ['__proto__']],
      [deep, ['body']],
      ['{"a":'.repeat(10_000), ['body']],
      [`{"a":"${'\\'.repeat(60_000)}`, ['body']],
      ['{"a":"\u0000"}', ['body']],
      [Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), ['body']],
      [Buffer.from('{"a":"\u00c0\u0080"}', 'latin1'), ['body']],
      [Buffer.from('{}', 'utf16le'), ['body']],
      ['{"a":1,}', ['body']],
      ['{"a":NaN}', ['body']],
    ]
    const values = [
      deep,
      '1e400',
      '-1e400',
      '1e-400',
      '9007199254740993',
      '"\\u0000"',
      '"\\ud800"',
      '{"__proto__":1}',
    ]
    const plain = JSON.stringify({ ...(await body()), [field]: undefined })
    for (const value of values) bodies.push([plain.replace('{', `{"${field}":${value},`), [field]])
    for (const [sent, fields] of bodies) {
      const answer = await http.json(verb, path, sent)
      expect(readRefusal(answer), String(sent).slice(0, 80)).toEqual({ code: 'INVALID_ARGUMENT', fields })
      expect(answer.milliseconds).toBeLessThan(QUICK_MS)
    }
  })

  it('accepts any value in fields that it does not have', async () => {
    const plain = JSON.stringify(await body())
    const deep = '{"a":['.repeat(4_000) + ']}'.repeat(4_000)
    for (const value of [deep, '1e400', '"\\ud800\\u0000"', '{"__proto__":1,"b":1,"b":2}', '-0.0e-0']) {
      for (const name of ['constructor', 'unknown', 'toString', '']) {
        const answer = await http.json(verb, path, plain.replace('{', `{"${name}":${value},`))
        expect(answer.status, answer.text).toBe(wellFormed)
        expect(answer.milliseconds).toBeLessThan(QUICK_MS)
      }
    }
  })
})

describe('a valid request in any spelling', () => {
  it('gets the same quote as the plain one', async () => {
    const plain = await http.json('POST', '/v1/31337/quote', quoteRequest(chain))
    expect(plain.status).toBe(200)
    await hold(spelling({ ...quoteRequest(chain), depositWindow: 300 }), 300, async (text) => {
      const answer = await http.json('POST', '/v1/31337/quote', text)
      const expected = { ...JSON.parse(plain.text), quoteId: expect.any(String) }
      expect([answer.status, JSON.parse(answer.text)]).toEqual([200, expected])
    })
  })

  it('registers and unregisters a solver', async () => {
    const seeds = fc.tuple(fc.nat(), fc.nat())
    await hold(seeds, 100, async ([one, other]) => {
      const spell = (body: Record<string, unknown>, seed: number) =>
        fc.sample(spelling(body), { seed, numRuns: 1 })[0] ?? ''
      const endpointUrl = 'http://127.0.0.1:9/a'
      const registration = await signedRegistration(second, { endpointUrl, timestamp: ++timestamp })
      const registered = await http.json('POST', '/v1/31337/solvers/register', spell(registration, one))
      expect(JSON.parse(registered.text)).toMatchObject({ status: 'registered', address: second.address })
      const request = await signedUnregistration(second, ++timestamp)
      const path = `/v1/31337/solvers/0x${second.address.slice(2)[one % 2 ? 'toUpperCase' : 'toLowerCase']()}`
      const removed = await http.json('DELETE', path, spell(request, other))
      expect(JSON.parse(removed.text)).toEqual({ status: 'removed', address: getAddress(second.address) })
    })
  })

  it('finds an order by an id in any letter case, percent-encoded or not', () => {
    const digit = fc
      .constantFrom(...'0123456789abcdefABCDEF')
      .chain((one) => fc.constantFrom(one, `%${one.charCodeAt(0).toString(16)}`))
    return hold(fc.array(digit, { minLength: 64, maxLength: 64 }), 100, async (digits) => {
      const answer = await http.send('GET', `/v1/31337/order/0x${digits.join('')}`)
      const orderId = `0x${decodeURIComponent(digits.join('')).toLowerCase()}`
      expect(JSON.parse(answer.text)).toEqual({ orderId, chainId: 31337, state: 'NONE' })
    })
  })
})
