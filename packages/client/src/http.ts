import { check, durationProblem } from './arguments.js'
import { AggregatorError, fromAnswer, notAnAggregator } from './errors.js'
import { readServerSentEvents, type ServerSentEvent } from './sse.js'

export interface CallOptions {
  /** Cancels the call. */
  readonly signal?: AbortSignal
  /** Longest wait; the service answers a quote shortly before, with what has come by then. The client's own when left out. */
  readonly timeoutMs?: number
}

/** A request of one method. */
export interface RequestContext {
  readonly verb: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly body?: object
}

/** An instance as HTTP has it. */
export interface Instance {
  /** @returns the JSON of a successful answer @throws AggregatorError */
  call(call: RequestContext, options?: CallOptions): Promise<unknown>
  /** Opens a stream; it has no time-out. @throws AggregatorError */
  open(path: string, signal: AbortSignal): AsyncGenerator<ServerSentEvent, void, void>
}

export interface InstanceOptions {
  readonly baseUrl: string
  readonly timeoutMs: number
  readonly fetch: typeof fetch
}

const JSON_TYPE = 'application/json'
const EVENTS_TYPE = 'text/event-stream'
/** What timers of browsers and Node can wait, 24 days. */
const LONGEST_WAIT_MS = 2 ** 31 - 1

/** @throws AggregatorError ANSWER_INVALID for a base URL that leads nowhere */
export function createInstance({ baseUrl, timeoutMs, fetch }: InstanceOptions): Instance {
  const root = readBaseUrl(baseUrl)
  check({ timeoutMs: durationProblem(timeoutMs) })

  return {
    call({ verb, path, body }, options = {}) {
      const patience = options.timeoutMs ?? timeoutMs
      check({ timeoutMs: durationProblem(patience) })
      return withTimeout(Math.min(patience, LONGEST_WAIT_MS), options.signal, async (signal) => {
        const headers = {
          'content-type': JSON_TYPE,
          'connect-timeout-ms': String(Math.ceil(Math.min(patience, LONGEST_WAIT_MS))),
        }
        const sent = body === undefined ? {} : { headers, body: JSON.stringify(body) }
        const response = await fetch(`${root}${path}`, { method: verb, signal, ...sent })
        return readJson(await succeeded(response, JSON_TYPE))
      })
    },
    async *open(path, signal) {
      try {
        const response = await succeeded(await fetch(`${root}${path}`, { signal }), EVENTS_TYPE)
        if (response.body === null) throw notAnAggregator('an answer without a body')
        yield* readServerSentEvents(chunksOf(response.body))
      } catch (thrown) {
        throw toConnectionError(thrown)
      }
    },
  }
}

function readBaseUrl(text: string): string {
  const url = typeof text === 'string' && URL.canParse(text) ? new URL(text) : undefined
  if (url !== undefined && ['http:', 'https:'].includes(url.protocol))
    return text.replace(/[?#].*$/s, '').replace(/\/+$/, '')
  const violation = {
    field: 'baseUrl',
    message: 'must be a URL with http or https, such as https://quotes.example',
  }
  const message = `The base URL does not lead to an aggregator: baseUrl ${violation.message}.`
  throw new AggregatorError('ANSWER_INVALID', message, { violations: [violation] })
}

/** @throws AggregatorError when the answer is an error, or of another content type */
async function succeeded(response: Response, contentType: string): Promise<Response> {
  const type = response.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? ''
  if (response.ok && type === contentType) return response
  if (response.ok) {
    await response.body?.cancel()
    throw notAnAggregator(`content type ${type || 'unknown'}`)
  }
  const text = await response.text()
  throw fromAnswer({
    status: response.status,
    retryAfter: response.headers.get('retry-after'),
    body: type === JSON_TYPE ? parseJson(text) : undefined,
  })
}

async function readJson(response: Response): Promise<unknown> {
  const value = parseJson(await response.text())
  if (value === undefined) throw notAnAggregator('an answer that is not JSON')
  return value
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Not every browser iterates over a body by itself. */
async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
  const reader = body.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

async function withTimeout<T>(
  ms: number,
  cancelled: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(), ms)
  try {
    return await work(cancelled === undefined ? late.signal : AbortSignal.any([cancelled, late.signal]))
  } catch (thrown) {
    const options = { cause: thrown }
    if (cancelled?.aborted) throw new AggregatorError('CANCELLED', 'The call was cancelled.', options)
    if (late.signal.aborted)
      throw new AggregatorError('TIMED_OUT', 'The instance did not answer in time.', options)
    throw toConnectionError(thrown)
  } finally {
    clearTimeout(timer)
  }
}

/** What `fetch` and bodies throw says only that there is no whole answer. */
function toConnectionError(thrown: unknown): AggregatorError {
  if (thrown instanceof AggregatorError) return thrown
  const said = thrown instanceof Error ? thrown.message : String(thrown)
  const message = `The instance cannot be reached, or the connection broke off: ${said}`
  return new AggregatorError('CONNECTION_FAILED', message, { cause: thrown })
}
