import { type NoQuoteReasons, ServiceError } from '../../packages/protocol/src/errors.js'
import type { SolverResult } from '../../packages/protocol/src/solvers/solver-result.js'
import type { SolverAttempt } from './attempt.js'
import type { AuctionContext } from './context.js'
import { countResults } from './round-counts.js'

/** The errors of rounds without an offer. */
export type RoundErrors = ReturnType<typeof createRoundErrors>

/** What came of a round without an offer. */
interface EndedWithoutOffer {
  /** The number of solvers that it waited for. */
  readonly asked: number
  /** The number of solvers that it could have asked, and did not. */
  readonly notAsked: number
  readonly attempts: readonly Pick<SolverAttempt, 'result'>[]
}

/** When a connection to a solver, or time to begin a round, is likely to be free again. */
const RETRY_AFTER_SECONDS = 1
/** The interval of equal warnings. */
const WARNING_MS = 60_000

/** Builds the errors. They warn in the log that solvers or the service are busy. */
export function createRoundErrors({ directory, clock, log }: AuctionContext) {
  const warnedAt = new Map<string, number>()

  function warn(chainId: number, message: string): void {
    const last = warnedAt.get(message) ?? Number.NEGATIVE_INFINITY
    if (clock.monotonic() - last <= WARNING_MS) return
    warnedAt.set(message, clock.monotonic())
    log.warn({ chainId }, message)
  }

  function busy(chainId: number, quoteId?: string): ServiceError {
    warn(chainId, 'quotes are rejected: all connections to solvers are in use')
    const message = `All connections to solvers are in use: try again in ${RETRY_AFTER_SECONDS} s.`
    const retryAfterSeconds = RETRY_AFTER_SECONDS
    return new ServiceError('SOLVERS_BUSY', message, {
      retryAfterSeconds,
      ...(quoteId === undefined ? {} : { quoteId }),
    })
  }

  return {
    /**
     * All connections to solvers are in use.
     * @param quoteId the id of the record, when there is one
     */
    busy,
    /** More rounds wait than can begin in time. */
    overloaded(chainId: number): ServiceError {
      warn(chainId, 'quotes are rejected: more of them wait than can be served in time')
      const message = `More quotes wait than can be served in time: try again in ${RETRY_AFTER_SECONDS} s.`
      return new ServiceError('SOLVERS_BUSY', message, { retryAfterSeconds: RETRY_AFTER_SECONDS })
    },
    /** The error of a round without an offer: SOLVERS_BUSY when a request waited for a connection in vain, else NO_QUOTES. */
    noOffer(
      chainId: number,
      quoteId: string,
      { asked, notAsked, attempts }: EndedWithoutOffer,
    ): ServiceError {
      if (attempts.some(({ result }) => isQueued(result))) return busy(chainId, quoteId)
      const { declined, invalid, failed, late, soft_deadline, cancelled } = countResults(asked, attempts)
      const reasons = { asked, declined, invalid, failed, late: late + soft_deadline + cancelled, notAsked }
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

/** Whether a request ended while it waited for a connection. */
function isQueued(result: SolverResult): boolean {
  return result.kind === 'cancelled' && result.isQueued === true
}
