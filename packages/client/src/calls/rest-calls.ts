import { readServerSentEvents, type ServerSentEvent } from '../streams/sse-reader.js'
import { linkSignal } from './abort.js'
import {
  AggregatorError,
  fromAnswer,
  fromStream,
  toAggregatorError,
  UnreadableAnswer,
} from './aggregator-error.js'
import { readBaseUrl } from './base-url.js'
import { check, checked, checkOptions, durationProblem } from './check-arguments.js'
import { parseJson } from './json.js'
import { LONGEST_TIMER_MS } from './retry-delay.js'
import { withTimeout } from './timeout.js'

export interface CallOptions {
  /** Cancels the call. One of `AbortSignal.timeout` makes it TIMED_OUT. */
  readonly signal?: AbortSignal | undefined
  /** Longest wait; the service answers a quote shortly before, with the offers that came. That of the client when left out. */
  readonly timeoutMs?: number | undefined
}

/** A request of one method. */
export interface RestRequest {
  readonly path: string
  readonly body?: object
  /** POST with a body and GET without one when left out. */
  readonly verb?: 'DELETE'
}

/** An instance as HTTP has it. */
export interface Instance {
  /** Its base URL, without a slash at its end. */
  readonly url: string
  /**
   * @param write makes the request, and throws for arguments that are not valid
   * @param read reads the JSON of a successful answer
   * @throws AggregatorError
   */
  call<T>(write: () => RestRequest, read: (answer: unknown) => T, options?: CallOptions): Promise<T>
  /**
   * Opens a stream. It has no time-out.
   * @param read reads one block of it
   * @throws AggregatorError, also for an event with the name `error`
   */
  open<T>(
    request: RestRequest,
    read: (block: ServerSentEvent) => T,
    signal: AbortSignal,
  ): AsyncGenerator<T, void, void>
}

export interface InstanceOptions {
  /** Where the instance answers, such as `https://quotes.example`, with or without a path. */
  readonly baseUrl: string | URL
  /** Longest wait for an answer, in milliseconds; 10000 when left out. A call may have its own. Streams have none. */
  readonly timeoutMs?: number
  /** The operator's key for a back end, sent as `x-api-key`. Only for servers: a page would show it, and CORS forbids it. */
  readonly apiKey?: string | undefined
  /** Sends the requests, such as with headers for a gateway; the platform's `fetch` when left out. */
  readonly fetch?: typeof fetch
}

const TIMEOUT_MS = 10_000

const JSON_TYPE = 'application/json'
const EVENTS_TYPE = 'text/event-stream'
/** Far more than any answer of an aggregator has. What is compressed counts with its whole size. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024
const MAX_ERROR_BYTES = 64 * 1024

/** @throws AggregatorError ANSWER_INVALID for a base URL that leads nowhere, INVALID_ARGUMENT for a bad time-out */
export function createInstance({
  baseUrl,
  timeoutMs = TIMEOUT_MS,
  apiKey,
  fetch = globalThis.fetch,
}: InstanceOptions): Instance {
  const root = readBaseUrl(baseUrl)
  check({ timeoutMs: durationProblem(timeoutMs) })
  const key = apiKey && { 'x-api-key': apiKey }

  /**
   * @param bodyHeaders only with a body, since a browser asks the instance first (CORS) for a request with such headers
   * @throws AggregatorError when the answer is an error @throws UnreadableAnswer when it has another content type
   */
  async function request(
    { path, body, verb }: RestRequest,
    contentType: string,
    signal: AbortSignal,
    bodyHeaders?: Readonly<Record<string, string>>,
  ): Promise<Response> {
    // An instance must not lead an app to other hosts, such as those of its own network. Workers have no `redirect: 'error'`.
    const response = await fetch(`${root}${path}`, {
      method: verb ?? (body ? 'POST' : 'GET'),
      signal,
      redirect: 'manual',
      headers: { ...key, ...(body && { 'content-type': JSON_TYPE, ...bodyHeaders }) },
      body: body && JSON.stringify(body),
    })
    const { ok, status, headers: answered } = response
    const type = answered.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? ''
    if (ok && type === contentType) return response
    const isExplained = status >= 400 && type === JSON_TYPE
    const explanation = isExplained ? parseJson(await readBody(response, signal, MAX_ERROR_BYTES)) : undefined
    if (!isExplained) await response.body?.cancel()
    if (ok) throw new UnreadableAnswer(`content type ${type || 'unknown'}`)
    // Browsers hide the status of a redirect: it is 0.
    if (status < 400) throw new Error('unexpected redirect')
    throw fromAnswer({ url: root, status, retryAfter: answered.get('retry-after'), body: explanation })
  }

  return {
    url: root,
    async call(write, read, options = {}) {
      const sent = await checked(async () => write())
      checkOptions(options)
      const patience = options.timeoutMs ?? timeoutMs
      check({ timeoutMs: durationProblem(patience) })
      const limits = {
        ms: patience,
        signal: options.signal,
        message: `${root} did not answer in time.`,
      }
      try {
        return await withTimeout(limits, async (signal) => {
          const deadline = { 'connect-timeout-ms': String(Math.ceil(Math.min(patience, LONGEST_TIMER_MS))) }
          const response = await request(sent, JSON_TYPE, signal, deadline)
          const answer = parseJson(await readBody(response, signal, MAX_ANSWER_BYTES))
          if (answer === undefined) throw new UnreadableAnswer('an answer that is not JSON')
          return read(answer)
        })
      } catch (thrown) {
        throw toAggregatorError(root, thrown)
      }
    },
    async *open(sent, read, signal) {
      try {
        // Where there are none, as on React Native, an answer would come when the stream has ended: never.
        if (globalThis.ReadableStream === undefined) throw noStreams()
        const response = await request(sent, EVENTS_TYPE, signal)
        if (!response.body) throw noStreams()
        for await (const block of readServerSentEvents(chunksOf(response.body, signal))) {
          if (block.event === 'error' && block.data !== '') throw fromStream(root, parseJson(block.data))
          yield read(block)
        }
      } catch (thrown) {
        throw toAggregatorError(root, thrown)
      }
    },
  }
}

function noStreams(): AggregatorError {
  return new AggregatorError('ANSWER_INVALID', 'This fetch has no streams, which a body in parts needs.')
}

/** @throws UnreadableAnswer for a body that is too long: it is not read on */
async function readBody(response: Response, signal: AbortSignal, maxBytes: number): Promise<string> {
  let text = ''
  let length = 0
  const count = (more: number) => {
    length += more
    if (length > maxBytes) throw new UnreadableAnswer(`an answer of more than ${maxBytes} bytes`)
  }
  // Some platforms have no streams. There, the whole answer is in memory already.
  if (!response.body) {
    text = await response.text()
    count(text.length)
    return text
  }
  const decoder = new TextDecoder()
  for await (const chunk of chunksOf(response.body, signal)) {
    count(chunk.length)
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

/**
 * Some browsers cannot iterate over a body. After a garbage collection, Node no longer ends one when the signal of its request
 * aborts.
 * @throws the signal's reason
 */
async function* chunksOf(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, void> {
  const reader = body.getReader()
  const unlink = linkSignal(signal, { abort: () => void reader.cancel().catch(() => {}) })
  try {
    for (;;) {
      const { done, value } = await reader.read()
      signal.throwIfAborted()
      if (done) return
      yield value
    }
  } finally {
    unlink()
    await reader.cancel().catch(() => {})
  }
}
