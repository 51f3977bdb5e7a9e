import { once } from 'node:events'
import { connect } from 'node:net'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Reason } from '../../../packages/protocol/src/errors.js'
import { createRawHttpClient } from '../../support/clients/raw-http-client.js'
import { type Document, generatedDocument, operationsOf, urlOf } from '../../support/openapi/document.js'
import { limits, PLENTY } from '../../support/openapi/fixture.js'
import { readPromises } from '../../support/openapi/promises.js'
import { describeSlow, rounds } from '../../support/rounds.js'
import { startScene } from '../../support/service/scene.js'
import { shared } from '../../support/shared.js'
import { VALUES } from './values.js'

/** Names and values. */
type Values<T> = Readonly<Record<string, T>>

const SEED = 20_261_130
/** Requests to each operation. */
const RUNS = rounds(1000, 40)
/** What a connection may begin with before random bytes: of HTTP/1.1, and of HTTP/2 without and with its settings. */
const HEAD = 'POST /v1/31337/quote HTTP/1.1\r\nhost: a\r\n'
const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
const BEGINNINGS = [
  '',
  HEAD,
  `${HEAD}transfer-encoding: chunked\r\n\r\n`,
  `${HEAD}content-length: 1\r\ncontent-length: 2\r\n\r\n`,
  `${HEAD}x: ${'y'.repeat(17_000)}\r\n\r\n`,
  PREFACE,
  `${PREFACE}\0\0\0\x04\0\0\0\0\0`,
]
const document = generatedDocument('openapi.json')
const promises = readPromises(document)

const { chain, service } = await startScene({ environment: limits(PLENTY) })
const http = await shared(createRawHttpClient(service.url))

/** The operations of the document, each with an example of its path and body, and the names in its query. */
const operations = operationsOf(document).map(
  ({ of, place, operation: { parameters = [], requestBody } }) => {
    const within = (where: string): Document[] => parameters.filter((each: Document) => each.in === where)
    return {
      of,
      place,
      path: Object.fromEntries(within('path').map(({ name, example }) => [name, String(example)])),
      query: within('query').map(({ name }): string => name),
      body: requestBody?.content['application/json'].example as Values<unknown> | undefined,
    }
  },
)
type Operation = (typeof operations)[number]

const text = fc.oneof(fc.constantFrom(...VALUES.map(String)), fc.string({ unit: 'grapheme', maxLength: 20 }))
const odd = fc.constantFrom(undefined, null, ...VALUES, 'constructor', '__proto__', '١', '1\n', 1e300, -0)
const json = fc.oneof(odd, fc.jsonValue({ maxDepth: 2 }))

/** At most two of these names, with any values. */
function some<T>(names: readonly string[], value: fc.Arbitrary<T>): fc.Arbitrary<Values<T>> {
  return fc
    .subarray([...names], { maxLength: Math.min(2, names.length) })
    .chain((chosen) => fc.record(Object.fromEntries(chosen.map((name) => [name, value]))))
}

function changesOf({ path, query, body = {} }: Operation) {
  return fc.record({
    path: some(
      Object.keys(path),
      text.filter((value) => !/^\.{0,2}$/.test(value)),
    ),
    query: some(query, text),
    fields: some(Object.keys(body), json),
  })
}
type Changes = ReturnType<typeof changesOf> extends fc.Arbitrary<infer T> ? T : never

/** Sends the example with some changes. A stream is left when its first bytes have come. */
async function send({ of, path, body }: Operation, changes: Partial<Changes>) {
  const [method = ''] = of.split(' ')
  const url = urlOf(of, { ...path, ...changes.path })
  const response = await fetch(`${service.url}${url}?${new URLSearchParams(changes.query)}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify({ ...body, ...changes.fields }) }),
  })
  const headers = Object.fromEntries(response.headers)
  const type = headers['content-type'] ?? ''
  if (type.startsWith('text/event-stream')) await response.body?.cancel()
  const answer = response.bodyUsed ? '' : await response.text()
  return {
    of,
    status: response.status,
    headers,
    body: type.startsWith('application/json') ? JSON.parse(answer) : answer,
  }
}

describe('any request gets an answer that the document has, and a refusal names what was changed', () => {
  it.each(operations.filter(({ of }) => !of.endsWith('/ws')))('$of', async (operation) => {
    const property = fc.asyncProperty(changesOf(operation), async (changes) => {
      const answer = await send(operation, changes)
      const reason: Reason | undefined = answer.status < 400 ? undefined : answer.body.code
      expect(reason).not.toBe('INTERNAL')
      expect(promises.problemsOf({ ...answer, ...(reason && { reason }) })).toEqual([])
      if (reason !== 'INVALID_ARGUMENT') return
      const changed = Object.values(changes).flatMap((each) => Object.keys(each))
      const named: string[] = answer.body.details.map(({ field }: Document) => field.split('.')[0])
      expect(changed).toEqual(expect.arrayContaining(named))
      expect(named).not.toEqual([])
    })
    await fc.assert(property, { seed: SEED, numRuns: RUNS, endOnFailure: true })
  })
})

describeSlow('the service accepts exactly the values that the schema accepts', () => {
  /** Whether the service reports the field as a bad one. */
  async function isRefused(field: string, operation: Operation, changes: Partial<Changes>): Promise<boolean> {
    const { body } = await send(operation, changes)
    return body.details?.some((detail: Document) => detail.field === field) ?? false
  }

  /** A schema cannot say what goes with the chain in the path, nor which cursors, page tokens and origins are known. */
  const UNSAID = ['chainId', 'originChainId', 'destinationChainId', 'after', 'pageToken', 'audience', 'quote']
  const isSaid = (name: string) => !UNSAID.includes(name)
  /** What a value needs of other fields. */
  const BESIDE: Readonly<Record<string, object>> = { minQuotes: { softDeadlineMs: 100 } }
  /** Integers may be sent as strings. The schema has the plain form. */
  const isInteger = (value: unknown) => /^(0|[1-9]\d*)$/.test(String(value))

  it.each(operations.filter(({ body }) => body))('in the body of $of', async (operation) => {
    const { of, place, body } = operation
    const schema = [...place, 'requestBody', 'content', 'application/json', 'schema']
    const wrong: string[] = []
    for (const [field, { type }] of Object.entries<Document>(promises.at(schema).properties)) {
      if (!isSaid(field)) continue
      const isPrice = of.endsWith('/price')
      const longest = field === 'minDepositWindow' && !isPrice ? { depositWindow: 86_400 } : {}
      for (const value of [undefined, ...VALUES]) {
        // Nor can it say how long the chain's own window is.
        if (isPrice && field === 'minDepositWindow' && Number(value) > 300) continue
        if (type === 'integer' && typeof value === 'string' && isInteger(value)) continue
        const fields = { ...longest, ...BESIDE[field], [field]: value }
        const sent = JSON.parse(JSON.stringify({ ...body, ...fields }))
        const isPromised = promises.problems(schema, sent).length === 0
        if ((await isRefused(field, operation, { fields })) === isPromised) wrong.push(`${field} ${value}`)
      }
    }
    expect(wrong).toEqual([])
  })

  const inUrl = operations.filter(
    ({ of, path, query }) => !of.endsWith('/ws') && [...Object.keys(path), ...query].some(isSaid),
  )
  it.each(inUrl)('in the URL of $of', async (operation) => {
    const place = [...operation.place, 'parameters']
    const wrong: string[] = []
    for (const [index, { in: where, name, schema }] of promises.at(place).entries()) {
      // Another chain in the path gives another response.
      if (where === 'header' || !isSaid(name)) continue
      for (const value of VALUES) {
        if (value === '' || (typeof value !== 'string' && typeof value !== 'number')) continue
        const isNumber = (schema.items ?? schema).type === 'integer' && isInteger(value)
        const given = isNumber ? Number(value) : String(value)
        const promised = schema.type === 'array' ? [given] : given
        const isPromised = promises.problems([...place, index, 'schema'], promised).length === 0
        const changes = { [where]: { [name]: String(value) } }
        if ((await isRefused(name, operation, changes)) === isPromised) wrong.push(`${name} ${value}`)
      }
    }
    expect(wrong).toEqual([])
  })
})

/** A name that no metric may have: those of unknown paths and methods would have no bound. */
const INVENTED = 'zqx'

it('any path gets an answer, and no metric has its name', async () => {
  const known = ['v1', String(chain.chainId), 'solvers', 'order', 'quote', 'docs', 'health', 'assets']
  const rare = ['', '.', '..', '%', '%2e%2e', '%2F', '%00', '%ff', '%E2%82', ...'*:;?#\\@']
  const methods = [INVENTED, `aggregator.v1.QuoteService/${INVENTED}`, `aggregator.v1.${INVENTED}/GetQuote`]
  const segment = fc.oneof(fc.constantFrom(...known, ...methods), fc.constantFrom(...rare), fc.webSegment())
  const verb = fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND')
  const property = fc.asyncProperty(verb, fc.array(segment, { maxLength: 6 }), async (method, segments) => {
    const { status, text } = await http.send(method, `/${segments.join('/')}`)
    expect(status, text).toBeLessThan(500)
  })
  const examples = methods.map((method): [string, string[]] => ['POST', [method]])
  await fc.assert(property, { seed: SEED, numRuns: RUNS * 8, endOnFailure: true, examples })
  expect((await service.get('/health')).status).toBe(200)
  expect((await service.get('/metrics')).body).not.toContain(INVENTED)
})

it('any bytes get no error of the service, which goes on serving', async () => {
  const { hostname, port } = new URL(service.url)
  const bytes = fc.uint8Array({ minLength: 1, maxLength: 400 })
  const property = fc.asyncProperty(fc.constantFrom(...BEGINNINGS), bytes, async (beginning, more) => {
    const socket = connect(Number(port), hostname).on('error', () => {})
    let text = ''
    socket.setEncoding('latin1').on('data', (data) => {
      text += data
    })
    await once(socket, 'connect')
    socket.end(Buffer.concat([Buffer.from(beginning, 'latin1'), more]))
    // The service has read what was sent when it answers another request.
    expect((await service.get('/health')).status).toBe(200)
    socket.destroy()
    expect(text).not.toMatch(/^HTTP\/1\.1 5|:\d+:\d+\)|node_modules/)
  })
  await fc.assert(property, { seed: SEED, numRuns: RUNS, endOnFailure: true })
})
