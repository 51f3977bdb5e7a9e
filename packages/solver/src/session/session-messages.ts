import { parseUint256 } from '../../../../src/domain/amount.js'
import { type Hex, parseAddress, parseBytes32 } from '../../../../src/domain/hex.js'
import { isIntegerOf } from '../../../../src/domain/integer.js'
import { DEPOSIT_MODES, ORDER_TYPES, type Quote, type QuoteRequest } from '../../../../src/domain/quote.js'
import type { DeclineCode } from '../../../../src/domain/session.js'

/** A quote request of a session (docs/sessions.md). */
export interface SessionRequest extends QuoteRequest {
  /** This solver's id of the quote, a UUID. */
  readonly id: string
  /** When the instance stops waiting, Unix time in milliseconds. */
  readonly deadline: number
  /** W3C Trace Context of the caller, if it sent one. */
  readonly traceparent: string | undefined
}

/** A quote with the solver's EIP-712 signature, 65 bytes. */
export interface SessionOffer {
  readonly quote: Quote
  readonly signature: Hex
}

/** The answer to a quote request: an offer, or why there is none. */
export type SessionAnswer = SessionOffer | { readonly decline: DeclineCode }

/** The opening of a session. */
export interface SessionReady {
  /** A UUID: names the session in the instance's logs. */
  readonly sessionId: string
  readonly heartbeatMs: number
  /** The position at which the events begin; undefined when the hello did not ask for them. */
  readonly cursor: string | undefined
}

/** What came of a quote request, as the record of the quote shows it to this solver. */
export interface SessionResult {
  readonly id: string
  /** `QUOTED`, `DECLINED`, `INVALID`, `FAILED`, `LATE`, `CANCELLED` or `CIRCUIT_OPEN`. */
  readonly outcome: string
  /** For `INVALID` and `FAILED`. */
  readonly reason: string | undefined
}

/** An event of an order of this solver, with the fields that `/v1/ws` sends (docs/api.md, "Events"). */
export interface SessionOrderEvent {
  readonly type: string
  readonly chainId?: number
  readonly orderId?: Hex
  readonly [field: string]: unknown
}

/** A message of the instance. */
export type InstanceMessage =
  | { readonly type: 'challenge'; readonly nonce: Hex }
  | ({ readonly type: 'ready' } & SessionReady)
  /** `request` is undefined when this version cannot read it. */
  | { readonly type: 'quoteRequest'; readonly id: string; readonly request: SessionRequest | undefined }
  | ({ readonly type: 'result' } & SessionResult)
  | { readonly type: 'event'; readonly event: SessionOrderEvent; readonly cursor: string }
  | { readonly type: 'ping'; readonly id: string }
  | { readonly type: 'goAway'; readonly reconnectWithinMs: number }
  | { readonly type: 'error'; readonly code: string; readonly error: string }

/** The fields of a JSON object. */
type Fields = Readonly<Record<string, unknown>>

const HEARTBEAT_MS = { minimum: 1, maximum: 600_000 }
const RECONNECT_WITHIN_MS = { minimum: 0, maximum: 600_000 }

/**
 * Reads a message of the instance.
 * @returns undefined for a type of a later version
 * @throws Error when it is not JSON, or lacks what its type has
 */
export function readMessage(text: string): InstanceMessage | undefined {
  const fields: unknown = JSON.parse(text)
  if (!isFields(fields)) throw new Error('a message must be a JSON object')
  switch (fields.type) {
    case 'challenge':
      return { type: 'challenge', nonce: given('nonce', parseBytes32(fields.nonce)) }
    case 'ready':
      return {
        type: 'ready',
        sessionId: textOf(fields, 'sessionId'),
        heartbeatMs: integerOf(fields, 'heartbeatMs', HEARTBEAT_MS),
        cursor: typeof fields.cursor === 'string' ? fields.cursor : undefined,
      }
    case 'quoteRequest': {
      const id = textOf(fields, 'id')
      return { type: 'quoteRequest', id, request: readRequest(id, fields) }
    }
    case 'result': {
      const reason = typeof fields.reason === 'string' ? fields.reason : undefined
      return { type: 'result', id: textOf(fields, 'id'), outcome: textOf(fields, 'outcome'), reason }
    }
    case 'event':
      return { type: 'event', event: readEvent(fields.event), cursor: textOf(fields, 'cursor') }
    case 'ping':
      return { type: 'ping', id: textOf(fields, 'id') }
    case 'goAway':
      return {
        type: 'goAway',
        reconnectWithinMs: integerOf(fields, 'reconnectWithinMs', RECONNECT_WITHIN_MS),
      }
    case 'error':
      return { type: 'error', code: textOf(fields, 'code'), error: textOf(fields, 'error') }
    default:
      return undefined
  }
}

/** The answer to a quote request as a message. */
export function writeAnswer(id: string, answer: SessionAnswer): string {
  if ('decline' in answer) return JSON.stringify({ type: 'decline', id, code: answer.decline })
  const { quote, signature } = answer
  const wire = {
    ...quote,
    inputAmount: String(quote.inputAmount),
    outputAmount: String(quote.outputAmount),
    orderType: ORDER_TYPES.indexOf(quote.orderType),
    nonce: String(quote.nonce),
  }
  return JSON.stringify({ type: 'quote', id, quote: wire, signature })
}

/** @returns undefined when a field is missing, or has a value of a later version */
function readRequest(id: string, fields: Fields): SessionRequest | undefined {
  const { kind, chainId, destinationChainId, deadline, depositDeadline, fillDeadline, traceparent } = fields
  const inputToken = parseAddress(fields.inputToken)
  const outputToken = parseAddress(fields.outputToken)
  const user = parseAddress(fields.userAddress)
  const amount = parseUint256(fields.amount)
  const orderType = ORDER_TYPES.find((known) => known === fields.orderType)
  const depositMode = DEPOSIT_MODES.find((known) => known === fields.depositMode)
  if (inputToken === undefined || outputToken === undefined || user === undefined) return undefined
  if (amount === undefined || orderType === undefined || depositMode === undefined) return undefined
  if (kind !== 'FIRM' && kind !== 'INDICATIVE') return undefined
  if (!isNatural(chainId) || !isNatural(destinationChainId) || !isNatural(deadline)) return undefined
  if (!isNatural(depositDeadline) || !isNatural(fillDeadline)) return undefined
  return {
    id,
    deadline,
    kind,
    chainId,
    inputToken,
    outputToken,
    orderType,
    amount,
    user,
    destinationChainId,
    depositMode,
    depositDeadline,
    fillDeadline,
    traceparent: typeof traceparent === 'string' ? traceparent : undefined,
  }
}

function readEvent(value: unknown): SessionOrderEvent {
  if (!isFields(value)) throw new Error('event must be an object')
  return { ...value, type: textOf(value, 'type') }
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isNatural(value: unknown): value is number {
  return isIntegerOf({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, mustBe: '' }, value)
}

function textOf(fields: Fields, name: string): string {
  return given(name, typeof fields[name] === 'string' ? fields[name] : undefined)
}

function integerOf(fields: Fields, name: string, limits: { minimum: number; maximum: number }): number {
  const value = fields[name]
  return given(name, isIntegerOf({ ...limits, mustBe: '' }, value) ? value : undefined)
}

function given<T>(name: string, value: T | undefined): T {
  if (value === undefined) throw new Error(`${name} is missing or not valid`)
  return value
}
