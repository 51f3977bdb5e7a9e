import type { QuoteParams, SignedQuote } from '@quote-aggregator/client'
import { systemClock } from '../../protocol/src/clock.js'
import { differenceFromAsked } from '../../protocol/src/quotes/asked-swap.js'
import { modeOfNonce } from '../../protocol/src/quotes/nonce-mode.js'
import { unavailable } from './command-failure.js'

/** A transfer that arrives later may be kept by the contract for good (docs/decisions.md, D31). */
const SPARE_SECONDS = 120

interface Offers {
  readonly offer?: SignedQuote
  readonly best?: SignedQuote | undefined
  readonly alternatives?: readonly SignedQuote[]
}

/** @returns the answer. @throws CommandFailure for one with an offer of another swap: an instance may answer anything */
export function assertAsked<T extends Offers>(params: QuoteParams, answer: T): T {
  const { offer, best, alternatives = [] }: Offers = answer
  for (const given of [offer, best, ...alternatives]) {
    const name = given && differenceFromAsked(params, given.quote)
    if (name) throw unavailable(`The instance has offered another swap (${name}).`)
  }
  return answer
}

/** A stream of what the instance says of a request. @throws CommandFailure as `assertAsked` */
export async function* askedOffers<T extends Offers>(params: QuoteParams, messages: AsyncIterable<T>) {
  for await (const message of messages) yield assertAsked(params, message)
}

/** The deposit address of an offer, if a transfer can still pay it, as the instance says. */
export function payableAddress({ quote, depositAddress }: SignedQuote): string {
  if (modeOfNonce(quote.nonce) === 'CONTRACT') return 'none: not made for a transfer'
  return quote.depositDeadline - SPARE_SECONDS > systemClock.now() / 1000 ? depositAddress : 'none: too late'
}
