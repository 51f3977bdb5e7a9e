import type { IncomingHttpHeaders } from 'node:http'
import type { Reason } from '../../../packages/protocol/src/errors.js'
import type { Sample } from '../../../scripts/openapi/example.js'
import { createRawHttpClient } from '../clients/raw-http-client.js'

/** A request to a path of the document, and its response. */
export interface Exchange extends Sample {
  readonly headers: IncomingHttpHeaders
  /** What was sent; undefined where it was not by `ask`. */
  readonly sent?: Sent
}

/** A request, and the text of its response. */
interface Sent {
  readonly verb: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  readonly answer: string
}

/** What is sent. A body is sent as JSON unless it is text. */
export interface RequestOptions {
  readonly path?: Readonly<Record<string, string | number>>
  readonly query?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: object | string
}

export type Asker = ReturnType<typeof createAsker>

/** Sends requests to a service by the names of the document, and keeps every response in `exchanges`. */
export function createAsker(url: string, exchanges: Exchange[]) {
  const http = createRawHttpClient(url)

  return {
    /** @param of verb and path as the document has them, such as `GET /v1/{chainId}/solvers` */
    async ask(
      of: string,
      { path = {}, query = '', headers = {}, body }: RequestOptions = {},
    ): Promise<Exchange> {
      const [verb = '', template = ''] = of.split(' ')
      const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
      const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' }
      const sent = { verb, url: filled(template, path) + query, headers: { ...type, ...headers }, body: text }
      const answer = await http.send(verb, sent.url, {
        headers: sent.headers,
        ...(text === undefined ? {} : { body: text }),
      })
      const seen = toExchange(of, answer)
      exchanges.push({
        ...seen,
        sent: { ...sent, answer: answer.text },
        ...(template.includes('{') ? { path } : {}),
        ...(typeof body === 'object' ? { requestBody: body } : {}),
      })
      return seen
    },
    /** Keeps a response that was received in another way. */
    keep: (of: string, answer: { status: number; headers: IncomingHttpHeaders; text: string }) =>
      exchanges.push(toExchange(of, answer)),
    url,
    close: http.close,
  }
}

function filled(template: string, path: Readonly<Record<string, string | number>>): string {
  return template.replace(/\{(\w+)\}/g, (_, name) => String(path[name]))
}

function toExchange(
  of: string,
  { status, headers, text }: { status: number; headers: IncomingHttpHeaders; text: string },
): Exchange {
  const isJson = headers['content-type']?.startsWith('application/json') ?? false
  const body = isJson ? JSON.parse(text) : text
  const reason: Reason | undefined = status >= 400 && isJson ? body.code : undefined
  return { of, status, headers, body, ...(reason === undefined ? {} : { reason }) }
}
