import { spawnSync } from 'node:child_process'
import { createServer } from 'node:http'
import { describe, expect, it } from 'vitest'
import { freePort } from '../support/free-port.js'
import { listen } from '../support/listen.js'
import { causeAnswers } from '../support/openapi/answers.js'
import { closed, generatedDocument } from '../support/openapi/document.js'
import type { Exchange } from '../support/openapi/exchanges.js'
import { startOpenApiFixture } from '../support/openapi/fixture.js'
import { OF } from '../support/openapi/operations.js'
import { answerName } from '../support/openapi/promises.js'
import { startChild } from '../support/process/child-process.js'
import { shared } from '../support/shared.js'

const PRISM = '@stoplight/prism-cli@5.16.0'
/** Names an exchange between the two sides of Prism. */
const NUMBER = 'x-exchange'
/** What belongs to a connection, which Prism has of its own. */
const OF_CONNECTION = ['connection', 'content-length', 'keep-alive', 'transfer-encoding', 'upgrade']

/** Prism waits for the end of such a body forever, has no routes that the document lacks, and keeps `upgrade` to itself. */
function isJudged(exchange: Exchange): exchange is Exchange & Required<Pick<Exchange, 'sent'>> {
  const { of, sent, reason = '' } = exchange
  const isRouted = !['ROUTE_NOT_FOUND', 'METHOD_NOT_ALLOWED'].includes(reason)
  return sent !== undefined && sent.body !== '{' && isRouted && of !== OF.socket
}

interface Violation {
  readonly location: readonly string[]
  readonly message: string
}

/** Gives the response of the exchange that a request names, and the document. */
async function startReplay(exchanges: readonly Exchange[]) {
  const document = JSON.stringify(closed(generatedDocument('openapi.json')))
  const server = createServer((request, response) => {
    if (request.url === '/openapi.json') return void response.end(document)
    request.resume()
    const { status, headers, sent } = exchanges[Number(request.headers[NUMBER])] as Exchange
    for (const [name, value = ''] of Object.entries(headers))
      if (!OF_CONNECTION.includes(name)) response.setHeader(name, value)
    response.writeHead(status).end(sent?.answer)
  })
  const { url } = await listen(server)
  return { url, close: () => server.close() }
}

/** Starts Prism as a proxy that adds to each response how it and its request differ from the document. */
async function startPrism(upstream: string) {
  const port = String(await freePort())
  const args = [
    '--yes',
    PRISM,
    'proxy',
    `${upstream}/openapi.json`,
    upstream,
    '--port',
    port,
    '--cors',
    'false',
  ]
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

describe.skipIf(spawnSync('npx', ['--yes', PRISM, '--version']).status !== 0)(
  'Prism (needs it from npm)',
  async () => {
    const fixture = await shared(startOpenApiFixture())
    const { exchanges } = await causeAnswers(fixture)
    const prism = await shared(startPrism((await shared(startReplay(exchanges))).url))

    it('finds no difference between the document and a response of each kind', async () => {
      const judged = exchanges.filter(isJudged)
      for (const exchange of judged) {
        const { verb, url, headers, body } = exchange.sent
        const answer = await fetch(prism.url + url, {
          method: verb,
          headers: { ...headers, [NUMBER]: String(exchanges.indexOf(exchange)) },
          ...(body === undefined ? {} : { body }),
        })
        await answer.body?.cancel()
        const violations: Violation[] = JSON.parse(answer.headers.get('sl-violations') ?? '[]')
        // A request may differ only where the service refuses it.
        const found = violations.filter(
          ({ location: [side] }) => side === 'response' || exchange.status < 400,
        )
        expect([answer.status, found], answerName(exchange)).toEqual([exchange.status, []])
      }
      expect(judged.length).toBeGreaterThan(exchanges.length / 2)
    })
  },
)
