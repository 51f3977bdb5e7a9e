import type { Clock } from '../../protocol/src/clock.js'
import { revertOf } from '../../protocol/src/node/revert.js'
import { decoded, shorten } from '../../protocol/src/values/text.js'

/** One call of JSON-RPC. */
export interface Call {
  readonly method: string
  readonly params: readonly unknown[]
}

/** What a call may cost its caller. */
export interface CallLimits {
  /** Bytes of the answer, or of the batch of answers. */
  readonly maxBytes: number
  /** Time until the answer begins; over HTTP, each 64 bytes of it give a millisecond more. */
  readonly timeoutMs: number
  /** Ends the call with its reason. */
  readonly signal?: AbortSignal | undefined
}

/** What the connections to one node share. */
export interface NodeContext {
  readonly clock: Clock
  readonly words: Words
  /** The limits of calls that have none of their own. A message over a WebSocket with more than `maxBytes` closes it. */
  readonly limits: CallLimits
}

export function toMessage(id: number, { method, params }: Call) {
  return { jsonrpc: '2.0', id, method, params }
}

/**
 * Why a call has no result.
 * - `answered`: the node has answered this call with an error of JSON-RPC.
 * - `refused`: the node does not answer at present: a status of HTTP, its limits, or the pause after them.
 * - `too_long`: the answer has more bytes than the caller takes.
 * - `lost`: no connection, no answer in time, or an answer that is not JSON-RPC.
 */
type RpcErrorKind = 'answered' | 'refused' | 'too_long' | 'lost'

interface RpcErrorFacts {
  readonly answer?: unknown
  readonly status?: number
  readonly isRateLimit?: boolean
  readonly retryAfterMs?: number
  readonly isTimeout?: boolean
}

/**
 * A call that has no result. The message is one short line with the node's words, without path, query and credentials of its
 * URL. `code`, `data` and the begin of the message are those of EIP-1193.
 */
export class RpcError extends Error {
  override readonly name = 'RpcError'
  readonly kind: RpcErrorKind
  /** The member `error` of the answer as it came; undefined without one. */
  readonly answer: unknown
  /** The members `code` and `data` of it. */
  readonly code: number | undefined
  readonly data: unknown
  /** The status of HTTP that refuses the call, also of a WebSocket's handshake. */
  readonly status: number | undefined
  /** The node limits the rate of calls, or it is too busy. */
  readonly isRateLimit: boolean
  /** The pause that the node asks for; undefined when it names none. */
  readonly retryAfterMs: number | undefined
  /** The answer did not come in time. */
  readonly isTimeout: boolean

  constructor(kind: RpcErrorKind, message: string, facts: RpcErrorFacts = {}) {
    super(message)
    const { code, data } = isRecord(facts.answer) ? facts.answer : {}
    this.kind = kind
    this.answer = facts.answer
    this.code = code === undefined ? undefined : Number(code)
    this.data = data
    this.status = facts.status
    this.isRateLimit = facts.isRateLimit ?? false
    this.retryAfterMs = facts.retryAfterMs
    this.isTimeout = facts.isTimeout ?? false
  }
}

/** Codes by which providers limit rates: EIP-1474 and Infura, Alchemy, QuickNode. */
const RATE_CODES: readonly (number | undefined)[] = [-32005, 429, -32007]
const RATE_WORDS = /\brates?\b|capacity|per second|too many requests/i
/** Nodes use the codes of rates also for too many logs. */
const SIZE_WORDS = /results|range|logs|blocks|response size/i

/** The error for the member `error` of an answer. */
export function toRpcError(answer: unknown, words: Words): RpcError {
  const message = isRecord(answer) ? (answer.message ?? JSON.stringify(answer)) : answer
  const text = words(message) || `an error with code ${isRecord(answer) && answer.code}`
  const error = new RpcError('answered', text, { answer })
  return isLimit(error) ? new RpcError('refused', error.message, { answer, isRateLimit: true }) : error
}

function isLimit(error: RpcError): boolean {
  if (hasRun(error)) return false
  return namesRate(error) || (RATE_CODES.includes(error.code) && !SIZE_WORDS.test(error.message))
}

/** Whether the words of an error speak of a rate, as those of bare codes do not. A range is a size, whatever plan allows it. */
export function namesRate({ message }: RpcError): boolean {
  return RATE_WORDS.test(message) && !/\brange\b/i.test(message)
}

/**
 * Whether the call has run in the node and was reverted, so that the error says nothing of node, batch or range. Callers choose the words
 * of reverts, so these are looked for first.
 */
export function hasRun({ kind, answer, message }: RpcError): boolean {
  return kind === 'answered' && (revertOf(answer) !== undefined || /revert/i.test(message))
}

/** The error of this client among the causes of another one, such as viem's. */
export function rpcErrorIn(error: unknown): RpcError | undefined {
  if (error instanceof RpcError) return error
  return error instanceof Error ? rpcErrorIn(error.cause) : undefined
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export const CLOSED = 'the client is closed'

export function lost(message: string): RpcError {
  return new RpcError('lost', message)
}

export function tooLong(maxBytes: number): RpcError {
  return new RpcError('too_long', `the answer of the node has more than ${maxBytes} bytes`)
}

export function tooLate(timeoutMs: number): RpcError {
  return new RpcError('lost', `the node does not answer within ${timeoutMs} ms`, { isTimeout: true })
}

/** Up to this size, no JSON takes long to parse. */
const SMALL_BYTES = 512 * 1024
/** A node's JSON has a structural character for every 17 to 35 bytes. */
const BYTES_PER_TOKEN = 10
const IS_STRUCTURAL = Uint8Array.from({ length: 256 }, (_, byte) =>
  Number('{}[],:'.includes(String.fromCharCode(byte))),
)

/**
 * Parses a node's JSON. A long text of empty objects would stop the event loop for seconds and take twenty times its size, so it is
 * not parsed.
 * @throws RpcError of kind `lost`
 */
export function parseJson(bytes: Buffer): unknown {
  if (bytes.length > SMALL_BYTES && countTokens(bytes) > bytes.length / BYTES_PER_TOKEN)
    throw lost('the answer of the node has far more values than its size allows')
  try {
    // Without a byte order mark.
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    throw lost('the answer of the node is not JSON')
  }
}

function countTokens(bytes: Uint8Array): number {
  let count = 0
  for (const byte of bytes) count += IS_STRUCTURAL[byte] ?? 0
  return count
}

/**
 * The result in an answer of JSON-RPC, which may be null. Some gateways send the answer to one call as a list.
 * @throws RpcError with the node's error, or of kind `lost` for what is no answer
 */
export function resultOf(answer: unknown, words: Words): unknown {
  const one = Array.isArray(answer) && answer.length === 1 ? answer[0] : answer
  const { result, error } = isRecord(one) ? one : {}
  if (error !== undefined && error !== null) throw toRpcError(error, words)
  if (result !== undefined) return result
  throw lost('the answer of the node has neither a result nor an error')
}

/**
 * Waits for an answer within the limits of a call.
 * @throws RpcError after its time, and the reason of the signal; the work itself goes on
 */
export function within<T>(
  clock: Clock,
  { timeoutMs, signal }: Pick<CallLimits, 'timeoutMs' | 'signal'>,
  work: Promise<T>,
): Promise<T> {
  let end = () => {}
  const ended = new Promise<never>((_resolve, reject) => {
    const onAbort = () => reject(signal?.reason)
    const timer = clock.setTimeout(() => reject(tooLate(timeoutMs)), timeoutMs)
    signal?.addEventListener('abort', onAbort)
    if (signal?.aborted) onAbort()
    end = () => {
      timer.stop()
      signal?.removeEventListener('abort', onAbort)
    }
  })
  return Promise.race([work, ended]).finally(() => end())
}

const MAX_CHARACTERS = 300
/** More of a node's text is not looked at. */
const MAX_READ = 10_000
/** What is shorter, such as `v2`, is no key. */
const MIN_KEY_CHARACTERS = 6
/** A URL, with what comes before its host and after it, which may have a key. */
const URL_PARTS = /\b((?:http|ws)s?:\/\/)(?:[^\s/@]*@)?([^\s/?#"']*)[^\s"']*/gi

/** Brings a text into one short line, without the parts of a node's URL that may be a key. */
export type Words = (text: unknown) => string

/** Builds it for one node, which may quote what it was asked. @param url of the node */
export function createWords(url: string): Words {
  const { pathname, search, username, password } = new URL(url)
  const credentials = Buffer.from(`${decoded(username)}:${decoded(password)}`).toString('base64')
  const parts = [...`${pathname}${search}`.split(/[/?&=]/), username, password, credentials]
  const keys = parts
    .flatMap((part) => [part, decoded(part)])
    .filter(({ length }) => length >= MIN_KEY_CHARACTERS)
    .sort((a, b) => b.length - a.length)
  return (text) => {
    const line = String(text).slice(0, MAX_READ).replace(/\s+/g, ' ').trim()
    const withoutKeys = keys.reduce(
      (shown, key) => shown.replaceAll(key, '…'),
      line.replace(URL_PARTS, '$1$2'),
    )
    return shorten(withoutKeys, MAX_CHARACTERS)
  }
}
