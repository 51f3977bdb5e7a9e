import type { DeadCode, OfferState } from '../../../protocol/src/quotes/offer-state.js'
import { ORDER_TYPES, type SignedQuote } from '../../../protocol/src/quotes/quote.js'
import { parseBytes32 } from '../../../protocol/src/values/hex.js'
import { UnreadableAnswer } from '../calls/aggregator-error.js'
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
export interface OfferCheck extends ReadBy<typeof CHECK> {}
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

/** A signed offer. With its order id, an answer on another one is refused. */
export type CheckedOffer = Pick<SignedQuote, 'quote' | 'signature'> & Partial<Pick<SignedQuote, 'orderId'>>

/** Makes the body of a check. */
export function toCheckBody({
  quote,
  signature,
}: CheckedOffer): Omit<Messages['CheckOfferRequest'], 'chainId'> {
  const { inputAmount, outputAmount, nonce } = quote
  const integers = { inputAmount: `${inputAmount}`, outputAmount: `${outputAmount}`, nonce: `${nonce}` }
  const orderType = ORDER_TYPES.indexOf(quote.orderType) as Messages['Quote']['orderType']
  return {
    quote: { ...quote, ...integers, orderType },
    solverSignature: signature,
  }
}

const readCheck = messageReader(CHECK)

/** Reads what an instance says of an offer. @throws UnreadableAnswer, also for another one than the one that was asked about */
export function readOfferCheck(answer: unknown, { orderId }: CheckedOffer): OfferCheck {
  const check = readCheck(answer)
  if (orderId !== undefined && check.orderId !== parseBytes32(orderId))
    throw new UnreadableAnswer('another offer than the one that was asked about')
  return check
}
