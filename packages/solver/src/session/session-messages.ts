import type { Quote } from '../../../protocol/src/quotes/quote.js'
import type { DeclineCode } from '../../../protocol/src/solvers/solver-result.js'
import { type Hex, parseBytes32 } from '../../../protocol/src/values/hex.js'
import { instanceSentence, instanceText } from './instance-text.js'
import { integerIn, naturalOf, readRequest, toWireQuote } from './wire-forms.js'

/** A quote with the solver's EIP-712 signature, 65 bytes. */
export interface SessionOffer {
  readonly quote: Quote
  readonly signature: Hex
}

/** The answer to a quote request: an offer, or why there is none. */
export type SessionAnswer = SessionOffer | { readonly decline: DeclineCode }

/** What came of a quote request, as the record of the quote shows it to this solver. */
export interface SessionResult {
  readonly id: string
  /** `QUOTED`, `DECLINED`, `INVALID`, `FAILED`, `LATE`, `SOFT_DEADLINE`, `CANCELLED` or `CIRCUIT_OPEN`. */
  readonly outcome: string
  /** For `INVALID` and `FAILED`. */
  readonly reason: string | undefined
  /** For `QUOTED`: the rank among the valid offers, 1 for the best one; undefined without a rank. */
  readonly rank: number | undefined
  /** Why the round asked the solver: `ALL`, `RANK` or `TURN`. */
  readonly chosenBy: string | undefined
  /** The median of the solver's gaps in the pair, in basis points; undefined without a lesson. */
  readonly gapBps: number | undefined
  /** Whether a round that has offers waits for the solver. */
  readonly isWaitedFor: boolean | undefined
}

/** A message of the instance. */
export type InstanceMessage = NonNullable<ReturnType<typeof readMessage>>

/** A longer one would hide for minutes that the instance is dead. */
const HEARTBEAT_MS = integerIn(1_000, 60_000)
const RECONNECT_WITHIN_MS = integerIn(0, 600_000)

/**
 * Reads a message of the instance.
 * @returns undefined for a type of a later version
 * @throws Error when it is not JSON, or lacks what its type has
 */
export function readMessage(text: string) {
  const fields: unknown = JSON.parse(text)
  if (!isRecord(fields)) throw new Error('a message must be a JSON object')
  const { type, gapBps, isWaitedFor } = fields

  /** @throws Error for a field that is missing or not valid */
  const read = <T>(name: string, parse: (value: unknown) => T | undefined): T => {
    const value = parse(fields[name])
    if (value === undefined) throw new Error(`${name} is missing or not valid`)
    return value
  }

  switch (type) {
    case 'challenge':
      return { type, nonce: read('nonce', parseBytes32) } as const
    case 'ready':
      // The session's id, a UUID, names it in the instance's logs.
      return {
        type,
        sessionId: read('sessionId', instanceText),
        heartbeatMs: read('heartbeatMs', HEARTBEAT_MS),
      } as const
    case 'quoteRequest':
      // `request` is undefined when this version cannot read it.
      return { type, id: read('id', instanceText), request: readRequest(fields) } as const
    case 'result':
      return {
        type,
        id: read('id', instanceText),
        outcome: read('outcome', instanceText),
        reason: instanceText(fields.reason),
        rank: naturalOf(fields.rank),
        chosenBy: instanceText(fields.chosenBy),
        gapBps: typeof gapBps === 'number' ? gapBps : undefined,
        isWaitedFor: typeof isWaitedFor === 'boolean' ? isWaitedFor : undefined,
      } as const
    case 'ping':
      return { type, id: read('id', instanceText) } as const
    case 'goAway':
      return { type, reconnectWithinMs: read('reconnectWithinMs', RECONNECT_WITHIN_MS) } as const
    case 'error': {
      const error = instanceSentence([fields.error, ...detailsOf(fields.details)].join(' '))
      return { type, code: read('code', instanceText), error } as const
    }
    default:
      return undefined
  }
}

/** The answer to a quote request as a message. */
export function toAnswerMessage(id: string, answer: SessionAnswer): object {
  if ('decline' in answer) return { type: 'decline', id, code: answer.decline }
  return { type: 'quote', id, quote: toWireQuote(answer.quote), signature: answer.signature }
}

/** What an error says of each bad field. */
function detailsOf(details: unknown): string[] {
  if (!Array.isArray(details)) return []
  return details.flatMap((detail: unknown) => (isRecord(detail) ? [`${detail.field} ${detail.message}`] : []))
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
