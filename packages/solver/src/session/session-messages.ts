import * as z from 'zod'
import type { Offer } from '../../../protocol/src/quotes/quote.js'
import type { DeclineCode } from '../../../protocol/src/solvers/solver-result.js'
import { parseBytes32 } from '../../../protocol/src/values/hex.js'
import {
  type IncomingRequest,
  instanceSentence,
  natural,
  optional,
  read,
  readRequest,
  text,
  toWireQuote,
} from './wire-forms.js'

/** The answer to a quote request: an offer, or why there is none. */
export type SessionAnswer = Offer | { readonly decline: DeclineCode }

/** What came of a quote request, as the record of the quote shows it to this solver. */
export type SessionResult = Omit<z.output<typeof RESULT>, 'type'>

const RESULT = z.object({
  type: z.literal('result'),
  id: text,
  /** `QUOTED`, `DECLINED`, `INVALID`, `FAILED`, `LATE`, `SOFT_DEADLINE`, `CANCELLED` or `CIRCUIT_OPEN`. */
  outcome: text,
  /** For `INVALID` and `FAILED`. */
  reason: optional(text),
  /** For `QUOTED`: the rank among the valid offers, 1 for the best one; undefined without a rank. */
  rank: optional(natural),
  /** Why the round asked the solver: `ALL`, `RANK` or `TURN`. */
  chosenBy: optional(text),
  /** The median of the solver's gaps in the pair, in basis points; undefined without a lesson. */
  gapBps: optional(z.number()),
  /** Whether a round that has offers waits for the solver. */
  isWaitedFor: optional(z.boolean()),
})

/** What came of an answer, with what it was about: undefined for a request that this process has not had lately. */
export interface AnswerResult extends SessionResult {
  readonly request: IncomingRequest | undefined
  /** What was offered; undefined without an offer. */
  readonly inputAmount: bigint | undefined
  readonly outputAmount: bigint | undefined
  /** Why none was made. */
  readonly decline: DeclineCode | undefined
}

/** A message of the instance. */
export type InstanceMessage = z.output<typeof MESSAGE>

const MESSAGE = z.discriminatedUnion('type', [
  z.object({ type: z.literal('challenge'), nonce: read(parseBytes32) }),
  z.object({
    type: z.literal('ready'),
    // The session's id, a UUID, names it in the instance's logs.
    sessionId: text,
    // A longer one would hide for minutes that the instance is dead.
    heartbeatMs: z.int().min(1_000).max(60_000),
  }),
  // `request` is undefined when this version cannot read it.
  z
    .looseObject({ type: z.literal('quoteRequest'), id: text })
    .transform((fields) => ({ type: fields.type, id: fields.id, request: readRequest(fields) })),
  RESULT,
  z.object({ type: z.literal('ping'), id: text }),
  z.object({ type: z.literal('goAway'), reconnectWithinMs: natural.max(600_000) }),
  z
    .object({
      type: z.literal('error'),
      code: text,
      error: z.unknown(),
      // What an error says of each bad field.
      details: z.array(z.looseObject({}).catch({})).catch([]),
    })
    .transform(({ type, code, error, details }) => {
      const words = details.flatMap(({ field, message }) => (field === undefined ? [] : [field, message]))
      return { type, code, error: instanceSentence([error, ...words].join(' ')) }
    }),
])

/**
 * Reads a message of the instance.
 * @returns undefined for a type of a later version
 * @throws Error when it is not JSON, or lacks what its type has
 */
export function readMessage(json: string): InstanceMessage | undefined {
  const { data, error } = MESSAGE.safeParse(JSON.parse(json))
  // No type of this version.
  if (data !== undefined || error.issues[0]?.code === 'invalid_union') return data
  throw new Error(z.prettifyError(error))
}

/** The answer to a quote request as a message. */
export function toAnswerMessage(id: string, answer: SessionAnswer): object {
  if ('decline' in answer) return { type: 'decline', id, code: answer.decline }
  return { type: 'quote', id, quote: toWireQuote(answer.quote), signature: answer.signature }
}
