import { describe, expect, it } from 'vitest'
import { causeAnswers } from '../../support/openapi/answers.js'
import { type Document, generatedDocument, readDocument } from '../../support/openapi/document.js'
import { startOpenApiFixture } from '../../support/openapi/fixture.js'
import { OF } from '../../support/openapi/operations.js'
import { answerName, readPromises } from '../../support/openapi/promises.js'
import { shared } from '../../support/shared.js'
import { VALUES } from './values.js'

const fixture = await shared(startOpenApiFixture())
const caused = await causeAnswers(fixture)
const openApi = generatedDocument('openapi.json')
const asyncApi = generatedDocument('asyncapi.json')
const promises = readPromises(openApi)

describe('/openapi.json', () => {
  it('is the generated file, and has the version of the service', async () => {
    expect((await fixture.tight.get('/openapi.json')).body).toEqual(openApi)
    expect(openApi.info.version).toBe((await fixture.tight.get('/health')).body.version)
  })

  it('describes every received response: status, headers and body', () => {
    const broken = caused.exchanges.flatMap((exchange) =>
      promises.problemsOf(exchange).map((problem) => `${answerName(exchange)}: ${problem}`),
    )
    expect(broken).toEqual([])
  })

  it('describes only received responses, except failures of the service that no request can cause', () => {
    const seen = new Set(caused.exchanges.map(answerName))
    const unseen = promises.answers().filter((answer) => !seen.has(answer))
    expect(unseen.filter((answer) => !answer.endsWith(' INTERNAL'))).toEqual([])
    expect(caused.exchanges.filter(({ reason }) => reason === 'INTERNAL')).toHaveLength(4)
  })

  it('does not count as a request, and neither does the page that shows it', async () => {
    for (const path of [
      '/openapi.json',
      '/asyncapi.json',
      '/',
      '/docs',
      '/docs/start.js',
      '/llms.txt',
      '/favicon.ico',
    ]) {
      const { status, headers } = await fixture.tight.get(path)
      const found = [status, headers.get('ratelimit-limit'), headers.get('x-content-type-options')]
      expect(found, path).toEqual([200, null, 'nosniff'])
    }
  })
})

it('/health is degraded when only the database fails', () => {
  const [before, after] = caused.exchanges
    .filter(({ of, status }) => of === 'GET /health' && status === 200)
    .map(({ body }) => body as Document)
  expect(before?.database).toBe('ok')
  expect(after).toMatchObject({ status: 'degraded', database: 'down' })
  expect(after?.chains.filter(({ status }: Document) => status === 'down')).toEqual([])
})

describe('the service accepts exactly the values that the schema accepts', () => {
  /** Whether the service reports the field as a bad one. */
  async function isRefused(field: string, url: string, init: RequestInit): Promise<boolean> {
    const response = await fetch(`${fixture.service.url}${url}`, init)
    if (response.status !== 400) {
      await response.body?.cancel()
      return false
    }
    const { details = [] } = (await response.json()) as { details?: { field: string }[] }
    return details.some((detail) => detail.field === field)
  }

  /** What a value needs of other fields, or of the configuration. */
  const BESIDE: Readonly<Record<string, object>> = { minQuotes: { softDeadlineMs: 100 } }

  it.each([OF.quote, OF.price, OF.stream, OF.register, OF.unregister])('in the body of %s', async (of) => {
    const { path = {}, requestBody } =
      caused.exchanges.find((each) => each.of === of && each.status === 200) ?? {}
    const [method = '', template = ''] = of.split(' ')
    const url = template.replace(/\{(\w+)\}/g, (_, name) => String(path[name]))
    const place = [
      'paths',
      template,
      method.toLowerCase(),
      'requestBody',
      'content',
      'application/json',
      'schema',
    ]
    const headers = { 'content-type': 'application/json' }
    const wrong: string[] = []
    for (const [field, { type }] of Object.entries<Document>(promises.at(place).properties)) {
      // A schema cannot say which values go with the chain in the path.
      if (field === 'originChainId' || field === 'destinationChainId') continue
      const longest = field === 'minDepositWindow' && of !== OF.price ? { depositWindow: 86_400 } : {}
      for (const value of [undefined, ...VALUES]) {
        // Nor how long the chain's own window is.
        if (of === OF.price && field === 'minDepositWindow' && Number(value) > 300) continue
        // Integers may be sent as strings. The schema has the plain form.
        if (type === 'integer' && typeof value === 'string' && /^(0|[1-9]\d*)$/.test(value)) continue
        const body = JSON.stringify({ ...requestBody, ...longest, ...BESIDE[field], [field]: value })
        const isPromised = promises.problems(place, JSON.parse(body)).length === 0
        if ((await isRefused(field, url, { method, headers, body })) === isPromised)
          wrong.push(`${field} ${value}`)
      }
    }
    expect(wrong).toEqual([])
  })

  it.each([OF.order, OF.orders, OF.record, OF.unregister, OF.events])('in the URL of %s', async (of) => {
    const { path = {} } = caused.exchanges.find((each) => each.of === of && each.status === 200) ?? {}
    const [method = '', template = ''] = of.split(' ')
    const place = ['paths', template, method.toLowerCase(), 'parameters']
    const wrong: string[] = []
    for (const [index, { in: where, name, schema }] of promises.at(place).entries()) {
      // Another chain in the path gives another response, and no schema can say which cursors and page tokens are known.
      if (where === 'header' || name === 'after' || name === 'pageToken') continue
      if (where === 'path' && name === 'chainId') continue
      for (const value of VALUES) {
        if (value === '' || (typeof value !== 'string' && typeof value !== 'number')) continue
        const isNumber = (schema.items ?? schema).type === 'integer' && /^(0|[1-9]\d*)$/.test(String(value))
        const given = isNumber ? Number(value) : String(value)
        const text = encodeURIComponent(value)
        const url = template.replace(/\{(\w+)\}/g, (_, each) => (each === name ? text : String(path[each])))
        const query = where === 'query' ? `?${name}=${text}` : ''
        const isPromised =
          promises.problems([...place, index, 'schema'], schema.type === 'array' ? [given] : given).length ===
          0
        const isFound = !(await isRefused(name, url + query, { method }))
        if (isFound !== isPromised) wrong.push(`${name} ${value}`)
      }
    }
    expect(wrong).toEqual([])
  })
})

describe('/asyncapi.json', () => {
  const payload = (type: string) => ['components', 'messages', type, 'payload']

  it('is the generated file', async () => {
    expect((await fixture.tight.get('/asyncapi.json')).body).toEqual(asyncApi)
  })

  it('describes every message that came on the WebSocket', () => {
    const messages = readDocument(asyncApi)
    const types = new Set(caused.events.map(({ type }) => type))
    expect([...types].sort()).toEqual(Object.keys(asyncApi.channels.webSocket.messages).sort())
    for (const event of caused.events) expect(messages.problems(payload(event.type), event)).toEqual([])
  })

  it('describes every message that came on server-sent events', () => {
    const messages = readDocument(asyncApi)
    const stream = caused.exchanges.find(({ of, status }) => of === OF.events && status === 200)
      ?.body as string
    const sent = [...stream.matchAll(/^data: (.*)\n\n/gm)].map(([, data = '']) => JSON.parse(data))
    expect(sent.length).toBeGreaterThan(2)
    for (const event of sent) expect(messages.problems(payload(event.type), event)).toEqual([])
  })
})
