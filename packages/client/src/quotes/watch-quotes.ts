import type { SignedQuote } from '../../../protocol/src/quotes/quote.js'
import { untilReturned } from '../calls/abort.js'
import type { AggregatorClient } from '../client.js'
import type { StreamOptions } from '../events/follow-events.js'
import { limitsOf, type OfferLimits } from '../offers/offer-limits.js'
import { type Lost, reconnect } from '../streams/reconnect.js'
import type { QuoteStreamMessage, QuoteStreamParams } from './stream-quotes.js'

/** The offers that a user can take now. */
export interface QuoteOffers {
  /** Names the record of their round. Undefined after a lost connection over which they have expired. */
  readonly quoteId: string | undefined
  /** The best one; undefined when there is none. */
  readonly best: SignedQuote | undefined
  /** The amounts of the best one. A page that shows them passes these limits on when its user clicks, and not those of a later item. */
  readonly limits: OfferLimits | undefined
  /** The others, best first. A user can take each of them. */
  readonly alternatives: readonly SignedQuote[]
  /** Solvers that the round asked: with 0, none is active for the chain. */
  readonly asked: number
  /** Solvers of those whose result is known: with fewer than `asked`, the round goes on. */
  readonly answered: number
  /** The best offer's deposit deadline, Unix time in milliseconds. */
  readonly expiresAt: number | undefined
}

/** `onLost` is called each time that the connection is lost or cannot be made, before the next attempt. */
export type WatchQuotesOptions = Pick<StreamOptions, 'signal' | 'onLost'>

const REFRESH_SECONDS = 15

/**
 * Follows the offers for a swap for as long as they are wanted: over the rounds, the end of a stream after ten minutes, and lost
 * connections, with backoff. The last offers stay until a later round has ended with some, or until they have expired. The watch ends
 * by the signal or when the loop is left. Check the offer that a user takes with `verifyQuote`.
 * @param params `refreshSeconds` is 15 when left out
 * @throws AggregatorError that another attempt cannot mend, such as INVALID_ARGUMENT and CHAIN_NOT_SUPPORTED
 */
export function watchQuotes(
  aggregator: Pick<AggregatorClient, 'streamQuotes'>,
  params: QuoteStreamParams,
  options: WatchQuotesOptions = {},
): AsyncIterableIterator<QuoteOffers> {
  return untilReturned(options, async function* ({ signal }) {
    // Undefined is left out.
    const refreshSeconds = params?.refreshSeconds ?? REFRESH_SECONDS
    let hasEnded = false
    const open = async function* () {
      hasEnded = false
      yield* aggregator.streamQuotes({ ...params, refreshSeconds }, { signal })
      hasEnded = true
    }
    const isSuccess = ({ type }: QuoteStreamMessage) => type === 'done'
    let offers: QuoteOffers | undefined
    for await (const message of reconnect(open, { signal, isSuccess })) {
      // That a stream ends after its last round is no loss.
      if (message.type === 'lost' && !hasEnded) options.onLost?.(message.error)
      const next = offersAfter(offers, message, Date.now())
      if (next === undefined || next === offers || signal.aborted) continue
      offers = next
      yield next
    }
  })
}

/** The offers after a message. @param now Unix time in milliseconds @returns those of before when they stay */
function offersAfter(
  offers: QuoteOffers | undefined,
  message: QuoteStreamMessage | Lost,
  now: number,
): QuoteOffers | undefined {
  const stays = offers?.best !== undefined && (offers.expiresAt ?? 0) > now
  if (message.type === 'lost') return stays || offers?.best === undefined ? offers : toOffers(undefined, 0, 0)
  const { quoteId, asked } = message
  const isSameRound = offers?.quoteId === quoteId
  if (message.type === 'quote') {
    const { offer: best, answered } = message
    // The first offers of a later round may be worse than those of the round before: wait for its end.
    if (stays && !isSameRound) return offers
    return toOffers(quoteId, asked, answered, best)
  }
  const { best, alternatives, quoted, declined, invalid, failed } = message
  // What was late or cut off has not answered.
  const answered = quoted + declined + invalid + failed
  if (best === undefined && stays && !isSameRound) return offers
  return toOffers(quoteId, asked, answered, best, alternatives)
}

function toOffers(
  quoteId: string | undefined,
  asked: number,
  answered: number,
  best?: SignedQuote,
  alternatives: readonly SignedQuote[] = [],
): QuoteOffers {
  const limits = best && limitsOf(best.quote)
  const expiresAt = best && best.quote.depositDeadline * 1000
  return { quoteId, best, limits, alternatives, asked, answered, expiresAt }
}
