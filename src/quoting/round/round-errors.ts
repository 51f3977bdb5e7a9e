import { ServiceError } from '../../../packages/protocol/src/errors.js'
import type { SolverResult } from '../../../packages/protocol/src/solvers/solver-result.js'
import type { Logger } from '../../telemetry/log.js'

/** The errors of rounds without an offer. */
export interface RoundErrors {
  /**
   * All connections to solvers are in use.
   * @param quoteId the id of the record, when there is one
   */
  busy(chainId: number, quoteId?: string): ServiceError
  /**
   * More rounds wait than can begin in time.
   * @param retryMs the time until this one could begin
   */
  overloaded(chainId: number, retryMs: number): ServiceError
  /** The error of a round with these results. */
  noOffer(chainId: number, quoteId: string, results: readonly SolverResult[]): ServiceError
}

interface RoundErrorsOptions {
  /** The clock of the solvers' health. */
  readonly clock: () => number
  readonly log: Logger
}

/** When a connection to a solver is likely to be free again. */
const RETRY_AFTER_SECONDS = 1
/** The interval of equal warnings. */
const WARNING_MS = 60_000

/** Builds the errors. They warn in the log that solvers or the service are busy. */
export function createRoundErrors({ clock, log }: RoundErrorsOptions): RoundErrors {
  const warnedAt = new Map<string, number>()

  function warn(chainId: number, message: string): void {
    const last = warnedAt.get(message) ?? Number.NEGATIVE_INFINITY
    if (clock() - last <= WARNING_MS) return
    warnedAt.set(message, clock())
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
    busy,
    overloaded(chainId, retryMs) {
      warn(chainId, 'quotes are rejected: more of them wait than can be served in time')
      const retryAfterSeconds = Math.ceil(retryMs / 1000)
      const message = `More quotes wait than can be served in time: try again in ${retryAfterSeconds} s.`
      return new ServiceError('SOLVERS_BUSY', message, { retryAfterSeconds })
    },
    noOffer(chainId, quoteId, results) {
      if (results.some(isQueued)) return busy(chainId, quoteId)
      return new ServiceError('NO_QUOTES', 'No solver gave a valid quote in time.', { quoteId })
    },
  }
}

/** Whether a request ended while it waited for a connection. */
function isQueued(result: SolverResult): boolean {
  return result.kind === 'cancelled' && result.isQueued === true
}
