import type { Hex } from 'viem'
import type { DeadCode, OfferState } from '../../../protocol/src/quotes/offer-state.js'
import { ORDER_TYPES, type SignedQuote } from '../../../protocol/src/quotes/quote.js'
import {
  messageReader,
  optional,
  readBytes32,
  readEnum,
  readInteger,
  readText,
} from '../calls/answer-fields.js'
import type { Messages, UnknownText } from '../calls/message-types.js'

/** What the settlement contract says of an offer at one block, as an instance read it. */
export interface OfferCheck {
  readonly orderId: Hex
  /** VALID, TAKEN (the order exists), DEAD or UNKNOWN. A newer instance may have further states. */
  readonly state: OfferState | UnknownText
  /** Why it is DEAD. */
  readonly code: DeadCode | UnknownText | undefined
  /** The contract's own error, for the code REFUSED. */
  readonly refusal: string | undefined
  /** The block that was read; undefined when no node answered, as the next one. */
  readonly block: number | undefined
  /** Unix time in seconds. */
  readonly blockTime: number | undefined
  /** The offer's deposit deadline, Unix time in milliseconds. */
  readonly expiresAt: number
  /** The instance's clock, Unix time in milliseconds. */
  readonly serverTime: number
  /** When to ask again, in milliseconds: only with UNKNOWN, when the instance has too many checks. */
  readonly retryAfterMs: number | undefined
}

/** Makes the body of a check. */
export function toCheckBody({
  quote,
  signature,
}: Pick<SignedQuote, 'quote' | 'signature'>): Omit<Messages['CheckOfferRequest'], 'chainId'> {
  const { inputAmount, outputAmount, nonce } = quote
  const integers = { inputAmount: `${inputAmount}`, outputAmount: `${outputAmount}`, nonce: `${nonce}` }
  const orderType = ORDER_TYPES.indexOf(quote.orderType) as Messages['Quote']['orderType']
  return {
    quote: { ...quote, ...integers, orderType },
    solverSignature: signature,
  }
}

/** Reads what an instance says of an offer. @throws UnreadableAnswer */
export const readOfferCheck = messageReader<'CheckOfferResponse', OfferCheck>({
  orderId: readBytes32,
  state: readEnum,
  code: optional(readEnum),
  refusal: optional(readText),
  block: optional(readInteger),
  blockTime: optional(readInteger),
  expiresAt: readInteger,
  serverTime: readInteger,
  retryAfterMs: optional(readInteger),
})
