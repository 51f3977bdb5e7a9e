import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { listen } from '../../support/listen.js'
import type { Verdict } from '../table.js'
import { excuseOf, unreadable } from './exceptions.js'
import { type Exchange, isOfService } from './exchange.js'
import { startPrism } from './prism.js'

/** What Prism says of an exchange. */
export interface PrismAnswer {
  readonly violations: readonly Violation[]
  /** Why Prism has not passed the request on. */
  readonly refusal?: string
}

interface Violation {
  readonly location: readonly string[]
  readonly severity: 'Error' | 'Warning' | 'Information' | 'Hint'
  readonly message: string
}

const AT_ONCE = 8
const NO_ANSWER_MS = 120_000
/** Names an exchange between the two sides of Prism. */
const NUMBER = 'x-exchange'
/** These belong to a connection, or to what Prism makes of a body. */
const OF_CONNECTION = [
  'accept-encoding',
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'te',
  'transfer-encoding',
  'upgrade',
]

/**
 * Plays recorded exchanges through Prism: a caller sends each request, Prism passes it to a server that gives the recorded
 * response, and adds the violations of the document that it finds in both.
 * @param document OpenAPI, as text
 */
export async function judgeExchanges(exchanges: readonly Exchange[], document: string): Promise<Verdict[]> {
  const upstream = await startRecordedServer(exchanges, withoutUnknownMembers(document))
  const prism = await startPrism(upstream.url)
  const agent = new Agent({ keepAlive: true })
  try {
    const verdicts: Verdict[] = []
    let next = 0
    async function work(): Promise<void> {
      while (next < exchanges.length) {
        const index = next++
        const exchange = exchanges[index] as Exchange
        const reason = unreadable(exchange)
        verdicts[index] =
          reason === undefined
            ? toVerdict(exchange, await ask(prism.url, agent, exchange, index))
            : notApplicable(reason)
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
    return verdicts
  } finally {
    agent.destroy()
    await prism.close()
    upstream.close()
  }
}

/**
 * A response must be as the document says. A request may differ from it only where the service has refused it. What another
 * server of a test answers is nobody's promise: only the request counts, if it is one of this API.
 */
export function toVerdict(exchange: Exchange, { violations, refusal }: PrismAnswer): Verdict {
  const { method, url, status } = exchange
  const isRefused = status >= 400
  const isOwn = isOfService(exchange)
  if (violations.some(({ message }) => message === 'Selected route not found')) {
    if (isRefused || !url.startsWith('/v1/') || method === 'OPTIONS')
      return notApplicable('The document has no such path and method.')
    return {
      kind: 'failed',
      reason: `${method} ${url} (${status}): The document has no such path and method.`,
    }
  }
  if (refusal !== undefined && !isOwn)
    return notApplicable('Prism does not pass on what a fake server answers.')
  if (refusal !== undefined && isRefused)
    return notApplicable('Prism itself refuses what the service refuses.')
  const found = violations.filter(({ severity, location: [side] }) => {
    const counts = side === 'request' ? !isOwn || !isRefused : isOwn
    return (severity === 'Error' || side === 'response') && counts
  })
  const differences = found.map(({ location, message }) => `${location.join('.')}: ${message}`)
  if (refusal !== undefined) differences.push(refusal)
  if (differences.length === 0) return { kind: 'passed' }
  const reason = `${method} ${url} (${status}): ${differences.join('; ')}`
  const excuse = excuseOf(reason)
  return excuse === undefined ? { kind: 'failed', reason } : notApplicable(excuse)
}

function notApplicable(reason: string): Verdict {
  return { kind: 'not applicable', reason }
}

/** The document, in which no object has members that it does not name. */
function withoutUnknownMembers(document: string): string {
  return JSON.stringify(JSON.parse(document), (_key, value) => {
    const isSchema = value?.type === 'object' && value.properties !== undefined
    return isSchema ? { additionalProperties: false, ...value } : value
  })
}

/** Gives the recorded response of the exchange that a request names. */
async function startRecordedServer(exchanges: readonly Exchange[], document: string) {
  const server = createServer((incoming, response) => {
    if (incoming.url === '/openapi.json') {
      response.setHeader('content-type', 'application/json').end(document)
      return
    }
    incoming.resume()
    const exchange = exchanges[Number(incoming.headers[NUMBER])]
    if (exchange === undefined) {
      response.writeHead(500).end()
      return
    }
    const { status, responseHeaders, responseBody } = exchange
    response.writeHead(status, withoutConnection(responseHeaders)).end(Buffer.from(responseBody, 'base64'))
  })
  const { url } = await listen(server)
  return {
    url,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

async function ask(prism: string, agent: Agent, exchange: Exchange, index: number): Promise<PrismAnswer> {
  const { method, url, requestHeaders, requestBody } = exchange
  const body = Buffer.from(requestBody, 'base64')
  const length = method === 'GET' ? [] : ['content-length', String(body.length)]
  const headers = [...withoutConnection(requestHeaders), ...length, NUMBER, String(index), 'host', 'prism']
  const sent = request(`${prism}${url}`, { method, agent, headers })
  sent.setTimeout(NO_ANSWER_MS, () => sent.destroy(new Error('no answer')))
  sent.end(body)
  try {
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    const answer = await text(response)
    const found = response.headers['sl-violations']
    const violations = found === undefined ? [] : JSON.parse(String(found))
    const isPassedOn = response.headers['content-type'] !== 'application/problem+json'
    return isPassedOn ? { violations } : { violations, refusal: answer }
  } catch (error) {
    return { violations: [], refusal: String(error) }
  }
}

function withoutConnection(headers: readonly string[]): string[] {
  const kept: string[] = []
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index] ?? ''
    if (!OF_CONNECTION.includes(name.toLowerCase())) kept.push(name, headers[index + 1] ?? '')
  }
  return kept
}
