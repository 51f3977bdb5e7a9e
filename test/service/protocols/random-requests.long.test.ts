import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createRawHttpClient } from '../../support/clients/raw-http-client.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { type Document, generatedDocument } from '../../support/openapi/document.js'
import { readPromises } from '../../support/openapi/promises.js'
import { VALUES } from '../../support/openapi/values.js'
import { rounds } from '../../support/rounds.js'
import { startService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'

/** An operation of the document, with an example of its request. */
interface Operation {
  readonly of: string
  /** Names and examples of what is in the path. */
  readonly path: Readonly<Record<string, string>>
  readonly queryNames: readonly string[]
  readonly body: Readonly<Record<string, unknown>> | undefined
}

/** What differs from the example. `undefined` stands for nothing there. */
interface Changes {
  readonly path: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  readonly fields: Readonly<Record<string, unknown>>
}

const SEED = 20_261_130
/** Requests to each operation. */
const RUNS = rounds(1000, 40)
const PLENTY = '1000000'
const LIMITS = ['MAX', 'QUOTE', 'PRICE', 'ORDER', 'REGISTER', 'UNREGISTER', 'SOLVERS', 'RESULTS', 'STREAMS']
const document = generatedDocument('openapi.json')
const promises = readPromises(document)

const chain = await shared(startModelChain({ bonded: 0 }))
const service = await shared(
  startService(chain, Object.fromEntries(LIMITS.map((name) => [`RATE_LIMIT_${name}`, PLENTY]))),
)
const http = await shared(createRawHttpClient(service.url))

const operations = Object.entries<Document>(document.paths).flatMap(([path, verbs]) =>
  Object.entries<Document>(verbs).map(([verb, { parameters = [], requestBody }]): Operation => {
    const within = (place: string): Document[] => parameters.filter((each: Document) => each.in === place)
    return {
      of: `${verb.toUpperCase()} ${path}`,
      path: Object.fromEntries(within('path').map(({ name, example }) => [name, String(example)])),
      queryNames: within('query').map(({ name }) => name),
      body: requestBody?.content['application/json'].example,
    }
  }),
)

const text = fc.oneof(fc.constantFrom(...VALUES.map(String)), fc.string({ unit: 'binary', maxLength: 20 }))
const json = fc.oneof(
  fc.constantFrom(undefined, null, ...VALUES),
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom('constructor', '__proto__', '١', '1\n', 1e300, -0),
)

/** Some of these names, with any values. */
function some<T>(names: readonly string[], value: fc.Arbitrary<T>): fc.Arbitrary<Record<string, T>> {
  return fc
    .subarray([...names], { maxLength: Math.min(2, names.length) })
    .chain((chosen) => fc.record(Object.fromEntries(chosen.map((name) => [name, value]))))
}

function changesOf({ path, queryNames, body = {} }: Operation): fc.Arbitrary<Changes> {
  const segment = text.filter((value) => value !== '' && !/^\.\.?$/.test(value))
  return fc.record({
    path: some(Object.keys(path), segment),
    query: some(queryNames, text),
    fields: some(Object.keys(body), json),
  })
}

/** Sends the example with its changes. A stream is left when its first bytes have come. */
async function send({ of, path, body }: Operation, changes: Changes) {
  const [method = '', template = ''] = of.split(' ')
  const filled: Record<string, string> = { ...path, ...changes.path }
  const url = template.replace(/\{(\w+)\}/g, (_, name) =>
    encodeURIComponent(filled[name]?.toWellFormed() ?? ''),
  )
  const query = new URLSearchParams(changes.query)
  const response = await fetch(`${service.url}${url}?${query}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify({ ...body, ...changes.fields }) }),
  })
  const headers = Object.fromEntries(response.headers)
  if (headers['content-type']?.startsWith('text/event-stream')) await response.body?.cancel()
  const answer = response.bodyUsed ? '' : await response.text()
  const isJson = headers['content-type']?.startsWith('application/json') ?? false
  return { of, status: response.status, headers, body: isJson ? JSON.parse(answer) : answer }
}

describe('any request gets an answer that the document has, and a refusal names a field that was changed', () => {
  it.each(operations.filter(({ of }) => !of.endsWith('/ws')))('$of', async (operation) => {
    const property = fc.asyncProperty(changesOf(operation), async (changes) => {
      const answer = await send(operation, changes)
      const reason: string | undefined = answer.status < 400 ? undefined : answer.body.code
      expect(reason).not.toBe('INTERNAL')
      expect(promises.problemsOf({ ...answer, ...(reason === undefined ? {} : { reason }) })).toEqual([])
      if (reason !== 'INVALID_ARGUMENT') return
      const changed = Object.values(changes).flatMap((each) => Object.keys(each))
      const named: string[] = answer.body.details.map(({ field }: Document) => field.split('.')[0])
      expect(changed).toEqual(expect.arrayContaining(named))
      expect(named).not.toEqual([])
    })
    await fc.assert(property, { seed: SEED, numRuns: RUNS })
  })
})

it('any text as a body is refused as one', async () => {
  const body = fc.oneof(
    fc.string(),
    fc.json().filter((value) => !value.startsWith('{')),
  )
  const property = fc.asyncProperty(body, async (sent) => {
    const answer = await http.json('POST', `/v1/${chain.chainId}/price`, sent)
    expect([answer.status, JSON.parse(answer.text).details]).toMatchObject([400, [{ field: 'body' }]])
  })
  await fc.assert(property, { seed: SEED, numRuns: RUNS })
})

it('any path gets an answer', async () => {
  const parts = [
    'v1',
    String(chain.chainId),
    'solvers',
    'order',
    'quote',
    'stream',
    'docs',
    'health',
    'assets',
    'aggregator.v1.QuoteService',
  ]
  const odd = [
    '',
    '.',
    '..',
    '%',
    '%2e%2e',
    '%2F',
    '%00',
    '%ff',
    '%E2%82',
    '*',
    ':',
    ';',
    '?',
    '#',
    '{',
    '\\',
    '@',
    '~',
  ]
  const path = fc.array(fc.oneof(fc.constantFrom(...parts), fc.constantFrom(...odd), fc.webSegment()), {
    maxLength: 6,
  })
  const verb = fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS')
  const property = fc.asyncProperty(verb, path, async (method, segments) => {
    const { status, text } = await http.send(method, `/${segments.join('/')}`)
    expect([200, 204, 301, 302, 303, 304, 307, 308, 400, 404, 405, 406, 415], text).toContain(status)
  })
  await fc.assert(property, { seed: SEED, numRuns: RUNS * 8 })
  expect((await service.get('/health')).status).toBe(200)
})
