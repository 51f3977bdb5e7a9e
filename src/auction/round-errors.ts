import { type NoQuoteReasons, ServiceError } from '../../packages/protocol/src/errors.js'
import type { RoundCounts } from './attempt.js'
import type { AuctionContext } from './context.js'

/** When a connection to a solver, or time to begin a round, is likely to be free again. */
const RETRY_AFTER_SECONDS = 1
/** The interval of equal warnings. */
const WARNING_MS = 60_000
const BUSY = {
  busy: 'All connections to solvers are in use',
  overloaded: 'More quotes wait than can be served in time',
}

/** Builds the errors of rounds without an offer. They warn in the log that solvers or the service are busy. */
export function createRoundErrors({ directory, clock, log }: AuctionContext) {
  const warnedAt = new Map<string, number>()

  return {
    /**
     * All connections to solvers are in use, or more rounds wait than can begin in time.
     * @param quoteId the id of the record, when there is one
     */
    busy(chainId: number, why: keyof typeof BUSY, quoteId?: string): ServiceError {
      const now = clock.monotonic()
      if (now - (warnedAt.get(why) ?? Number.NEGATIVE_INFINITY) > WARNING_MS) {
        warnedAt.set(why, now)
        log.warn({ chainId, reason: BUSY[why] }, 'quotes are rejected')
      }
      const message = `${BUSY[why]}: try again in ${RETRY_AFTER_SECONDS} s.`
      return new ServiceError('SOLVERS_BUSY', message, { retryAfterSeconds: RETRY_AFTER_SECONDS, quoteId })
    },
    /** @param notAsked the number of solvers that the round could have asked, and did not */
    noOffer(chainId: number, quoteId: string, counts: RoundCounts, notAsked: number): ServiceError {
      const { asked, declined, invalid, failed, late, soft_deadline, cancelled, circuit_open } = counts
      const unanswered = late + soft_deadline + cancelled + circuit_open
      const reasons = { asked, declined, invalid, failed, late: unanswered, notAsked }
      const message = sentenceOf(reasons, directory.registered(chainId).length)
      return new ServiceError('NO_QUOTES', message, { quoteId, reasons })
    },
  }
}

/** Says which of the reasons it was. @param registered how many solvers the chain has */
function sentenceOf(reasons: NoQuoteReasons, registered: number): string {
  const { asked, declined, invalid, failed, late, notAsked } = reasons
  if (registered === 0) return 'No solver is registered on this chain.'
  if (asked === 0)
    return `No solver could be asked: ${registered} ${registered === 1 ? 'is' : 'are'} registered on this chain, and none can be reached or asked at present.`
  const parts = [
    [declined, 'declined'],
    [invalid, 'sent no valid offer'],
    [failed, 'could not be reached'],
    [late, 'did not answer in time'],
  ] as const
  const named = parts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`)
  const others = notAsked === 0 ? '' : `; ${notAsked} more ${notAsked === 1 ? 'was' : 'were'} not asked`
  return `No solver gave a valid quote in time: of ${asked} asked, ${named.join(', ')}${others}.`
}
