import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Reason } from '../../../packages/protocol/src/errors.js'
import { createRawHttpClient } from '../../support/clients/raw-http-client.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { type Document, generatedDocument } from '../../support/openapi/document.js'
import { limits, PLENTY } from '../../support/openapi/fixture.js'
import { readPromises } from '../../support/openapi/promises.js'
import { rounds } from '../../support/rounds.js'
import { startService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import { VALUES } from './values.js'

/** Names and values. */
type Values<T> = Readonly<Record<string, T>>

const SEED = 20_261_130
/** Requests to each operation. */
const RUNS = rounds(1000, 40)
const document = generatedDocument('openapi.json')
const promises = readPromises(document)

const chain = await shared(startModelChain({ bonded: 0 }))
const service = await shared(startService(chain, limits(PLENTY)))
const http = await shared(createRawHttpClient(service.url))

/** The operations of the document, each with an example of its path and body, and the names in its query. */
const operations = Object.entries<Document>(document.paths).flatMap(([path, verbs]) =>
  Object.entries<Document>(verbs).map(([verb, { parameters = [], requestBody }]) => {
    const within = (place: string): Document[] => parameters.filter((each: Document) => each.in === place)
    return {
      of: `${verb.toUpperCase()} ${path}`,
      path: Object.fromEntries(within('path').map(({ name, example }) => [name, String(example)])),
      query: within('query').map(({ name }): string => name),
      body: requestBody?.content['application/json'].example as Values<unknown> | undefined,
    }
  }),
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
async function send({ of, path, body }: Operation, changes: Changes) {
  const [method = '', template = ''] = of.split(' ')
  const filled: Values<string> = { ...path, ...changes.path }
  const url = template.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(filled[name] ?? ''))
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

it('any path gets an answer', async () => {
  const known = ['v1', String(chain.chainId), 'solvers', 'order', 'quote', 'docs', 'health', 'assets']
  const rare = [
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
    '\\',
    '@',
  ]
  const segment = fc.oneof(fc.constantFrom(...known), fc.constantFrom(...rare), fc.webSegment())
  const verb = fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS')
  const property = fc.asyncProperty(verb, fc.array(segment, { maxLength: 6 }), async (method, segments) => {
    const { status, text } = await http.send(method, `/${segments.join('/')}`)
    expect(status, text).toBeLessThan(500)
  })
  await fc.assert(property, { seed: SEED, numRuns: RUNS * 8, endOnFailure: true })
  expect((await service.get('/health')).status).toBe(200)
})
