import { once } from 'node:events'
import { Agent, request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Reason } from '../../../packages/protocol/src/errors.js'
import type { Sample } from '../../../scripts/openapi/example.js'
import { generatedDocument, operationsOf, type PathValues, urlOf } from './document.js'

/** A request to a path of the document, and its response. */
export interface Exchange extends Sample {
  readonly headers: IncomingHttpHeaders
  readonly sent: Sent
}

/** A request, and the text of its response. */
interface Sent {
  readonly verb: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly text: string | undefined
  readonly answer: string
}

/** What is sent. */
interface RequestOptions {
  /** Values of the path, where they are not those of the asker. */
  readonly path?: PathValues
  readonly query?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: object | undefined
  /** Leaves a stream whose text has this. */
  readonly until?: string
}

/** @param operation its id in the document, or a verb and a path */
export type Ask = (operation: string, options?: RequestOptions) => Promise<Exchange>

/** The operations of the document. */
export const OPERATIONS = operationsOf(generatedDocument('openapi.json'))
const NAMES = new Map(OPERATIONS.map(({ id, of }) => [id, of]))

/** Sends requests to services, over connections that it keeps, and keeps every response in `exchanges`. */
export function createAsker(values: PathValues) {
  const agent = new Agent({ keepAlive: true })
  const exchanges: Exchange[] = []

  const askAt =
    (service: string): Ask =>
    async (operation, { path: others = {}, query = '', headers = {}, body, until } = {}) => {
      const of = NAMES.get(operation) ?? operation
      const names = [...of.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
      const path = Object.fromEntries(names.map((name) => [name, others[name] ?? values[name] ?? '']))
      const [verb = ''] = of.split(' ')
      const url = urlOf(of, path) + query
      const text = body && JSON.stringify(body)
      const asked = { ...(text && { 'content-type': 'application/json' }), ...headers }
      const length = text && { 'content-length': Buffer.byteLength(text) }
      const options = { agent, method: verb, headers: { ...asked, ...length } }
      const call = httpRequest(service + url, options).end(text)
      const answered = await Promise.race([once(call, 'response'), once(call, 'upgrade')])
      const [response, socket]: [IncomingMessage, Socket?] = answered as never
      socket?.destroy()
      let answer = ''
      // What an upgrade has after its headers belongs to the socket.
      for await (const chunk of socket ? [] : response.setEncoding('utf8')) {
        answer += chunk
        if (until && answer.includes(until)) break
      }
      const { statusCode: status = 0, headers: received } = response
      const isJson = received['content-type']?.startsWith('application/json') ?? false
      const value = isJson ? JSON.parse(answer) : answer
      const reason: Reason | undefined = status >= 400 && isJson ? value.code : undefined
      const exchange: Exchange = {
        ...{ of, status, headers: received, body: value, sent: { verb, url, headers: asked, text, answer } },
        ...(reason && { reason }),
        ...(names.length > 0 && { path }),
        ...(body && { requestBody: body }),
      }
      exchanges.push(exchange)
      return exchange
    }

  return { exchanges, askAt, close: () => agent.destroy() }
}
