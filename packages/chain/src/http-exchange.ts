import { Agent, type Dispatcher, request } from 'undici'
import { decoded } from '../../protocol/src/values/text.js'
import {
  type CallLimits,
  CLOSED,
  isRecord,
  lost,
  type NodeContext,
  parseJson,
  RpcError,
  tooLate,
  tooLong,
  toRpcError,
} from './json-rpc.js'

/** Posts JSON to one http or https URL. */
export type HttpExchange = ReturnType<typeof createHttpExchange>

const BYTES_PER_MS = 64
/** A node that goes on sending slowly keeps no caller longer. A range of logs that takes more is read in parts. */
const LONGEST_MS = 30_000
/** How much of the text of a refusal is looked at. */
const MAX_READ_OF_TEXT = 1000
/** By which the other side ends a connection; the last one is undici's for an orderly end. */
const ENDED_BY_OTHER_SIDE: readonly unknown[] = ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']
/** The limits of each request end it. */
const AGENT_OPTIONS: Agent.Options = { connect: { timeout: 5000 }, headersTimeout: 0, bodyTimeout: 0 }

/**
 * Builds the exchange. Connections are kept. A node may close one while a request is on its way, so a request whose connection ends
 * before the response goes once more, on a new connection: carried out twice, a call does no harm. Redirects are errors. Compressed
 * answers are not asked for, so that a node pays for each byte.
 * @param maxAtOnce more requests wait for a connection in their order, as a part of their time; null for no limit
 */
export function createHttpExchange(url: string, { clock, words }: NodeContext, maxAtOnce: number | null) {
  const { target, headers: credentials } = splitCredentials(url)
  const headers = {
    'content-type': 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'node',
    ...credentials,
  }
  const agent = new Agent({ ...AGENT_OPTIONS, connections: maxAtOnce })
  /** Opens a connection for each request. */
  const freshAgent = new Agent({ ...AGENT_OPTIONS, pipelining: 0 })
  let isClosed = false

  function send(body: string, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const sendBy = (dispatcher: Agent) =>
      request(target, { dispatcher, method: 'POST', headers, body, signal })
    return sendBy(agent).catch((error) => {
      if (ENDED_BY_OTHER_SIDE.includes(error.code)) return sendBy(freshAgent)
      throw error
    })
  }

  /** @param onBytes called with the number of each chunk */
  async function read(
    { statusCode, headers, body }: Dispatcher.ResponseData,
    onBytes: (bytes: number) => void,
  ): Promise<unknown> {
    // A body that is left in its midst has an error, which is no other than the one that was thrown.
    body.on('error', () => {})
    const chunks: Buffer[] = []
    for await (const chunk of body) {
      onBytes(chunk.length)
      chunks.push(chunk)
    }
    const content = Buffer.concat(chunks)
    if (statusCode >= 200 && statusCode < 300) return parseJson(content)
    throw errorOf(statusCode, headers['retry-after']?.toString(), content)
  }

  /** The error of a status that is no success. Some nodes answer a call with such a status and an error of JSON-RPC. */
  function errorOf(status: number, retryAfter: string | undefined, content: Buffer): RpcError {
    const text = content.subarray(0, MAX_READ_OF_TEXT).toString().trim()
    const answer = text.startsWith('{') ? parseJson(content) : undefined
    const error = isRecord(answer) && isRecord(answer.error) ? answer.error : undefined
    const said = error?.message ?? (text.startsWith('<') ? '' : text)
    const refusal = refusalOf(status, retryAfter, clock.now(), words(said))
    return typeof error?.message === 'string' && !refusal.isRateLimit ? toRpcError(error, words) : refusal
  }

  return {
    /**
     * Posts a text, and parses the answer of a status that is a success.
     * @throws RpcError, or the reason of the signal
     */
    async post(body: string, { maxBytes, timeoutMs, signal }: CallLimits): Promise<unknown> {
      signal?.throwIfAborted()
      const startedAt = clock.monotonic()
      const ending = new AbortController()
      // undici rejects no request that waits for its connection.
      const ended = new Promise<never>((_resolve, reject) => {
        ending.signal.addEventListener('abort', () => reject(ending.signal.reason))
      })
      const onAbort = () => ending.abort(signal?.reason)
      signal?.addEventListener('abort', onAbort)
      let bytes = 0
      function watch(): void {
        const mostMs = Math.max(timeoutMs, Math.min(timeoutMs + bytes / BYTES_PER_MS, LONGEST_MS))
        const leftMs = startedAt + mostMs - clock.monotonic()
        if (leftMs > 0) timer = clock.setTimeout(watch, leftMs)
        else ending.abort(tooLate(timeoutMs))
      }
      let timer = clock.setTimeout(watch, timeoutMs)
      const onBytes = (more: number) => {
        bytes += more
        if (bytes > maxBytes) throw tooLong(maxBytes)
      }
      try {
        return await Promise.race([
          ended,
          send(body, ending.signal).then((response) => read(response, onBytes)),
        ])
      } catch (error) {
        ending.signal.throwIfAborted()
        throw error instanceof RpcError ? error : lost(isClosed ? CLOSED : words(reasonOf(error)))
      } finally {
        timer.stop()
        signal?.removeEventListener('abort', onAbort)
      }
    },
    /** Ends all requests, and sends no more. */
    close(): void {
      isClosed = true
      for (const each of [agent, freshAgent]) void each.destroy()
    },
  }
}

/** Takes user name and password out of a URL, for Basic authentication. */
export function splitCredentials(url: string) {
  const target = new URL(url)
  const { username, password } = target
  if (username === '' && password === '') return { target, headers: {} }
  target.username = ''
  target.password = ''
  const credentials = Buffer.from(`${decoded(username)}:${decoded(password)}`).toString('base64')
  return { target, headers: { authorization: `Basic ${credentials}` } }
}

/** An attempt at several addresses fails without a text. */
export function reasonOf(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException
  return message || code || String(error)
}

/** The longest pause that a node can ask for. */
const LONGEST_PAUSE_MS = 60_000
/** Statuses whose `Retry-After` is a request to wait (RFC 6585, section 4; RFC 9110, section 15.6.4). */
const BUSY: readonly number[] = [429, 503]

/**
 * The error for a status of HTTP that is no success.
 * @param retryAfter the value of `Retry-After` (RFC 9110, section 10.2.3): a number of seconds, or an HTTP date
 * @param nowMs Unix time in milliseconds
 * @param words what the node says of it, in one line
 */
export function refusalOf(
  status: number,
  retryAfter: string | undefined,
  nowMs: number,
  words = '',
): RpcError {
  const isRedirect = status >= 300 && status < 400
  const what = isRedirect ? 'redirects are not followed' : words
  const message = `the node answers with status ${status}${what && `: ${what}`}`
  const isRateLimit = BUSY.includes(status)
  const retryAfterMs = isRateLimit ? retryAfterMsOf(retryAfter, nowMs) : undefined
  return new RpcError('refused', message, { status, isRateLimit, ...(retryAfterMs && { retryAfterMs }) })
}

/** @returns at most a minute; undefined for a value that is absent or malformed */
function retryAfterMsOf(value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined) return undefined
  const wanted = /^\d+$/.test(value.trim()) ? Number(value) * 1000 : Date.parse(value) - nowMs
  return Number.isNaN(wanted) ? undefined : Math.min(LONGEST_PAUSE_MS, Math.max(0, wanted))
}
