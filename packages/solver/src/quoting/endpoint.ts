import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../../../protocol/src/clock.js'
import { type IncomingRequest, readRequest, toWireQuote } from '../session/wire-forms.js'
import type { Quoting } from './quoting.js'

/** The answer of an endpoint to a request of an instance. */
export interface EndpointAnswer {
  readonly status: number
  /** To be sent as JSON. */
  readonly body: object
}

/** The parts of a request that an endpoint reads. */
export interface EndpointRequest {
  /** The parsed JSON. */
  readonly body: unknown
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** Aborts when the instance has left. */
  readonly signal?: AbortSignal
}

/** Requests of instances have a few hundred bytes. */
const MAX_BODY_BYTES = 16 * 1024
/** For an instance that sends no deadline. */
const USUAL_DEADLINE_MS = 1_000

/** Answers a request whose body is parsed (docs/decisions.md, D4). It never throws. */
export async function answerRequest(
  quoting: Quoting,
  asked: EndpointRequest,
  clock: Clock,
): Promise<EndpointAnswer> {
  const request = readAsked(asked, clock)
  if (request === undefined)
    return {
      status: 400,
      body: { error: 'a field or a header is missing, not valid, or of a later version' },
    }
  const answer = await quoting(request, 'ENDPOINT', asked.signal)
  if ('decline' in answer) return { status: 422, body: { error: 'declined', code: answer.decline } }
  return { status: 200, body: { quote: toWireQuote(answer.quote), signature: answer.signature } }
}

/** A request of `node:http`, or of Express, which may have parsed the body and cut the path. */
type EndpointMessage = IncomingMessage & { readonly body?: unknown; readonly originalUrl?: string }

/**
 * Answers a request of `node:http` to the endpoint's own path, also in Express, whose parsed body it takes. Any other is 404: a
 * stranger must know the path.
 * @param endpointUrl as registered; undefined for a solver without an endpoint
 */
export async function handle(
  endpointUrl: string | undefined,
  answer: (request: EndpointRequest) => Promise<EndpointAnswer>,
  incoming: EndpointMessage,
  response: ServerResponse,
): Promise<void> {
  const path = (incoming.originalUrl ?? incoming.url ?? '').split('?')[0]
  if (endpointUrl === undefined || incoming.method !== 'POST' || path !== quotePath(endpointUrl))
    return send(response, 404, {})
  const leaving = new AbortController()
  response.once('close', () => leaving.abort(new Error('the instance has left')))
  const body = await readBody(incoming)
  if (body instanceof Error) return send(response, 400, { error: body.message })
  const { signal } = leaving
  const { status, body: answered } = await answer({ body, headers: incoming.headers, signal })
  send(response, status, answered)
}

/** The path that an instance asks (docs/decisions.md, D5). */
function quotePath(endpointUrl: string): string {
  return `${new URL(endpointUrl).pathname.replace(/\/$/, '')}/quote`
}

/** @returns an error for a body that is too long, broken or not JSON */
async function readBody(incoming: EndpointMessage): Promise<unknown> {
  if (incoming.body !== undefined) return incoming.body
  try {
    const chunks: Buffer[] = []
    let length = 0
    for await (const chunk of incoming) {
      length += chunk.length
      if (length > MAX_BODY_BYTES) return new Error(`a request has at most ${MAX_BODY_BYTES} bytes`)
      chunks.push(chunk)
    }
    return JSON.parse(Buffer.concat(chunks).toString())
  } catch {
    return new Error('the body must be JSON')
  }
}

/** What is refused may be a flood: the requests that wait behind it on the connection are not read. */
function send(response: ServerResponse, status: number, body: object): void {
  if (response.destroyed) return
  const isRefused = status === 400 || status === 404 || ('code' in body && body.code === 'PAUSED')
  if (isRefused) response.setHeader('connection', 'close')
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

/** By the header. */
const KINDS: Readonly<Record<string, string>> = { firm: 'FIRM', indicative: 'INDICATIVE' }

/** @returns undefined when a field is missing or not valid, or a header has a value of a later version */
function readAsked({ body, headers }: EndpointRequest, clock: Clock): IncomingRequest | undefined {
  const { 'x-quote-kind': kind = 'firm', 'x-quote-id': id } = headers
  const deadline = String(headers['x-request-deadline'] ?? clock.now() + USUAL_DEADLINE_MS)
  return readRequest({
    ...Object(body),
    kind: KINDS[String(kind)],
    deadline: /^\d{1,15}$/.test(deadline) ? Number(deadline) : undefined,
    id,
  })
}
