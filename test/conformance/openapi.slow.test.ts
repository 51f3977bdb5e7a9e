import { spawnSync } from 'node:child_process'
import { createServer } from 'node:http'
import { expect, it } from 'vitest'
import { examples } from '../../scripts/openapi/contract.js'
import { freePort } from '../support/free-port.js'
import { listen } from '../support/listen.js'
import { causeAnswers } from '../support/openapi/answers.js'
import { captureExamples } from '../support/openapi/capture-examples.js'
import { closed, generatedDocument, readDocument } from '../support/openapi/document.js'
import { startOpenApiFixture } from '../support/openapi/fixture.js'
import { answerName, readPromises } from '../support/openapi/promises.js'
import { startChild } from '../support/process/child-process.js'
import { shared } from '../support/shared.js'

const fixture = await shared(startOpenApiFixture())
const caused = await causeAnswers(fixture)
const { exchanges, events } = caused
const openApi = generatedDocument('openapi.json')
const asyncApi = generatedDocument('asyncapi.json')
const promises = readPromises(openApi)

it('the documents are the generated ones, of this version, and do not count as requests, nor does the page that shows them', async () => {
  const served: Record<string, unknown> = { '/openapi.json': openApi, '/asyncapi.json': asyncApi }
  for (const path of [...Object.keys(served), '/', '/docs', '/docs/start.js', '/llms.txt', '/favicon.ico']) {
    const { status, headers, body } = await fixture.tight.get(path)
    const found = [status, headers.get('ratelimit-limit'), headers.get('x-content-type-options')]
    expect(found, path).toEqual([200, null, 'nosniff'])
    if (path in served) expect(body).toEqual(served[path])
  }
  expect(openApi.info.version).toBe((await fixture.tight.get('/health')).body.version)
})

it('the document describes every received response: status, headers and body', () => {
  const broken = exchanges.flatMap((exchange) =>
    promises.problemsOf(exchange).map((problem) => `${answerName(exchange)}: ${problem}`),
  )
  expect(broken).toEqual([])
})

it('the document describes only received responses, except failures of the service that no request can cause', () => {
  const seen = new Set(exchanges.map(answerName))
  const unseen = promises.answers().filter((answer) => !seen.has(answer))
  expect(unseen.filter((answer) => !answer.endsWith(' INTERNAL'))).toEqual([])
  expect(exchanges.filter(({ reason }) => reason === 'INTERNAL')).toHaveLength(4)
})

it('the AsyncAPI document describes every message of the WebSocket and of server-sent events', () => {
  const types = new Set(events.map(({ type }) => type))
  expect([...types].sort()).toEqual(Object.keys(asyncApi.channels.webSocket.messages).sort())
  const streams = exchanges.filter(({ of, status }) => of === 'GET /v1/events' && status === 200)
  const sent = streams.flatMap(({ body }) =>
    [...String(body).matchAll(/^data: (.*)\n\n/gm)].map(([, data = '']) => JSON.parse(data)),
  )
  expect(sent.filter(({ type }) => type !== 'connected').length).toBeGreaterThan(2)
  const messages = readDocument(asyncApi)
  for (const event of [...events, ...sent]) {
    const place = ['components', 'messages', event.type, 'payload']
    expect(messages.problems(place, event)).toEqual([])
  }
})

/** What differs from run to run in a text. */
const OF_ONE_RUN: readonly (readonly [RegExp, string])[] = [
  [/0x[0-9a-f]{8,}/gi, '<hex>'],
  [/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<uuid>'],
  [/[\w-]{60,}|[\da-z]{8}\.<uuid>/g, '<page token>'],
  [/[\w-]{8}\.\d+(\.[\w-]{8})?/g, '<cursor>'],
  [/(?<=127\.0\.0\.1:)\d+/g, '<port>'],
  // The value of a metric, a number in JSON, a time or an amount in a sentence.
  [/(?<=^\w+(\{.*\})? )[\d.e+-]+$|(?<=":)\d+|\d{9,}/gm, '<number>'],
]

/** What each run has in common: names, codes and sentences. */
function common(value: unknown): unknown {
  if (typeof value === 'number') return '<number>'
  if (typeof value === 'string')
    return OF_ONE_RUN.reduce((text, [part, name]) => text.replace(part, name), value)
  if (Array.isArray(value)) return value.map(common)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, common(item)]))
}

it('a running service answers like the examples: run `npx tsx scripts/capture-examples.ts` otherwise', async () => {
  const [now, then] = [await captureExamples(fixture, caused), examples].map((run) => {
    const samples = run.exchanges.map((sample) => [answerName(sample), common(sample)])
    return { ...run, exchanges: Object.fromEntries(samples) }
  })
  expect(now?.exchanges).toEqual(then?.exchanges)
  expect([common(now?.settlement), common(now?.events)]).toEqual([
    common(then?.settlement),
    common(then?.events),
  ])
})

const PRISM = '@stoplight/prism-cli@5.16.0'
/** Names an exchange between the two sides of Prism. */
const NUMBER = 'x-exchange'
/** What belongs to a connection, which Prism has of its own. */
const OF_CONNECTION = ['connection', 'content-length', 'keep-alive', 'transfer-encoding', 'upgrade']

interface Violation {
  readonly location: readonly string[]
  readonly message: string
}

/** Gives the response of the exchange that a request names, and the document. */
async function startReplay() {
  const document = JSON.stringify(closed(openApi))
  const server = createServer((request, response) => {
    const exchange = exchanges[Number(request.headers[NUMBER])]
    if (exchange === undefined) return void response.end(document)
    request.resume()
    for (const [name, value = ''] of Object.entries(exchange.headers))
      if (!OF_CONNECTION.includes(name)) response.setHeader(name, value)
    response.writeHead(exchange.status).end(exchange.sent.answer)
  })
  const { url } = await listen(server)
  return { url, close: () => server.close() }
}

/** Starts Prism as a proxy that adds to each response how it and its request differ from the document. */
async function startPrism(upstream: string) {
  const port = String(await freePort())
  const options = ['--port', port, '--cors', 'false']
  const args = ['--yes', PRISM, 'proxy', `${upstream}/openapi.json`, upstream, ...options]
  const prism = startChild('npx', args, {}, { ownGroup: true })
  await prism.waitFor(/Prism is listening/)
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      const { pid } = prism.child
      if (pid !== undefined && prism.leftSomething()) process.kill(-pid, 'SIGTERM')
      await prism.exited
    },
  }
}

it.skipIf(spawnSync('npx', ['--yes', PRISM, '--version']).status !== 0)(
  'Prism finds no difference between the document and a response of each kind (needs it from npm)',
  async () => {
    const replay = await startReplay()
    const prism = await startPrism(replay.url)
    // It has no routes that the document lacks, and keeps `upgrade` to itself.
    const isUnknown = ({ of, reason }: (typeof exchanges)[number]) =>
      of === 'GET /v1/ws' || reason === 'ROUTE_NOT_FOUND' || reason === 'METHOD_NOT_ALLOWED'
    const broken: string[] = []
    for (const [number, exchange] of exchanges.entries()) {
      if (isUnknown(exchange)) continue
      const { verb, url, headers, text = null } = exchange.sent
      const init = { method: verb, headers: { ...headers, [NUMBER]: String(number) }, body: text }
      const answer = await fetch(prism.url + url, init)
      await answer.body?.cancel()
      const violations: Violation[] = JSON.parse(answer.headers.get('sl-violations') ?? '[]')
      // A request may differ only where the service refuses it.
      const found = violations.filter(({ location: [side] }) => side === 'response' || exchange.status < 400)
      expect(answer.status).toBe(exchange.status)
      broken.push(...found.map(({ message }) => `${answerName(exchange)}: ${message}`))
    }
    expect(broken).toEqual([])
    await prism.close()
    replay.close()
  },
)
