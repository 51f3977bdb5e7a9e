import type { DeadCode, OfferState } from '../../../protocol/src/quotes/offer-state.js'
import { ORDER_TYPES, type SignedQuote } from '../../../protocol/src/quotes/quote.js'
import {
  messageReader,
  optional,
  type ReadBy,
  type Readers,
  readBytes32,
  readEnum,
  readInteger,
  readText,
} from '../calls/answer-fields.js'
import type { Messages } from '../calls/message-types.js'

/** What the settlement contract says of an offer at one block, as an instance read it. */
export type OfferCheck = ReadBy<typeof CHECK>
const CHECK = {
  orderId: readBytes32,
  /** VALID, TAKEN (the order exists), DEAD or UNKNOWN. A newer instance may have further states. */
  state: readEnum<OfferState>,
  /** Why it is DEAD. */
  code: optional(readEnum<DeadCode>),
  /** The contract's own error, for the code REFUSED. */
  refusal: optional(readText),
  /** The block that was read; undefined when no node answered, as the next one. */
  block: optional(readInteger),
  /** Unix time in seconds. */
  blockTime: optional(readInteger),
  /** The offer's deposit deadline, Unix time in milliseconds. */
  expiresAt: readInteger,
  /** The instance's clock, Unix time in milliseconds. */
  serverTime: readInteger,
  /** When to ask again, in milliseconds: only with UNKNOWN, when the instance has too many checks. */
  retryAfterMs: optional(readInteger),
} satisfies Readers<'CheckOfferResponse'>

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
export const readOfferCheck = messageReader(CHECK)
