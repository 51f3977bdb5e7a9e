import { revertOf } from '../../protocol/src/revert.js'
import type { Words } from './node-words.js'

/**
 * Why a call has no result.
 * - `answered`: the node has answered this call with an error of JSON-RPC.
 * - `refused`: the node does not answer at present: a status of HTTP, its limits, or the pause after them.
 * - `too_long`: the answer has more bytes than the caller takes.
 * - `lost`: no connection, no answer in time, or an answer that is not JSON-RPC.
 */
export type RpcErrorKind = 'answered' | 'refused' | 'too_long' | 'lost'

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
