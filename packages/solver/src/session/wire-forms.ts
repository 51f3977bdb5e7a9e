import * as z from 'zod'
import {
  DEPOSIT_MODES,
  ORDER_TYPES,
  type Quote,
  type QuoteRequest,
} from '../../../protocol/src/quotes/quote.js'
import { parseAddress } from '../../../protocol/src/values/hex.js'
import { parseUint256, replaceUnprintable } from '../../../protocol/src/values/text.js'

/** A request of an instance, by a session (docs/sessions.md) or at the endpoint. Addresses in lower case. */
export interface IncomingRequest extends QuoteRequest {
  /** The user pays at the deposit address, or the request does not say how. */
  readonly isForAddress: boolean
  /** Names the solver's own result at the instance, a UUID; undefined for the check of a registration. */
  readonly id: string | undefined
  /** When the instance stops waiting, Unix time in milliseconds. */
  readonly deadline: number
}

/** Texts go into logs: an instance must not make them long. */
const MAX_CHARACTERS = 256

/** A text of an instance, which logs, callbacks and terminals get: without characters that a terminal executes or hides. */
export const text = z.string().max(MAX_CHARACTERS).transform(replaceUnprintable)
export const natural = z.int().min(0)
/** What is left out when it is not valid. */
export const optional = <T>(schema: z.ZodType<T>) =>
  schema.optional().catch(undefined) as unknown as z.ZodType<T | undefined>
/** What a parser of the protocol reads: it returns undefined for what is not valid. */
export const read = <T>(parse: (value: unknown) => T | undefined) =>
  z
    .unknown()
    .transform(parse)
    .refine((value) => value !== undefined) as z.ZodType<T>

const REQUEST = z
  .object({
    kind: z.enum(['FIRM', 'INDICATIVE']),
    inputToken: read(parseAddress),
    outputToken: read(parseAddress),
    orderType: z.enum(ORDER_TYPES),
    amount: read(parseUint256),
    userAddress: read(parseAddress),
    chainId: natural,
    destinationChainId: natural.optional(),
    depositMode: z.enum(DEPOSIT_MODES).optional(),
    depositDeadline: natural,
    minDepositDeadline: optional(natural),
    fillDeadline: natural,
    deadline: natural,
    id: optional(text),
  })
  .transform(({ userAddress: user, destinationChainId, depositMode = 'CONTRACT', ...terms }, { value }) => ({
    ...terms,
    user,
    destinationChainId: destinationChainId ?? terms.chainId,
    depositMode,
    isForAddress: value.depositMode !== 'CONTRACT',
  }))

/**
 * Reads a request of a session, or the like of an endpoint (docs/decisions.md, D4). Other instances of the protocol send no
 * `destinationChainId`, which then is the chain, and no `depositMode`, which then is CONTRACT.
 * @returns undefined when another field is missing, or has a value of a later version
 */
export const readRequest = (fields: object): IncomingRequest | undefined => REQUEST.safeParse(fields).data

/** Writes a quote as an instance reads it (docs/decisions.md, D4): amounts and nonce in decimal, the order type by its number. */
export function toWireQuote(quote: Quote) {
  return {
    ...quote,
    inputAmount: String(quote.inputAmount),
    outputAmount: String(quote.outputAmount),
    orderType: ORDER_TYPES.indexOf(quote.orderType),
    nonce: String(quote.nonce),
  }
}

const MAX_SENTENCE_CHARACTERS = 1_000

/** A sentence of an instance, which logs, callbacks and terminals get: cut, and without characters that a terminal executes or hides. */
export function instanceSentence(words: string): string {
  return replaceUnprintable(words.slice(0, MAX_SENTENCE_CHARACTERS))
}
