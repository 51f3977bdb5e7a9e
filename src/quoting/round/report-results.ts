import type { SignedQuote } from '../../domain/quotes/quote.js'
import { type ReportedResult, toSessionResult } from '../../domain/solvers/solver-result.js'
import type { Address } from '../../domain/values/hex.js'
import type { SessionTransport } from '../../solvers/transport/solver-transports.js'
import type { Logger } from '../../telemetry/log.js'
import type { SolverAttempt } from './solver-attempt.js'

/** A request with the result that its solver may see. */
type ReportedAttempt = Pick<SolverAttempt, 'solver' | 'onSession'> & { readonly result: ReportedResult }

/**
 * Reports results to the solvers that got their requests on sessions, each its own (docs/decisions.md, D15). It never throws.
 * @param quoteIds each solver's id of the quote
 * @param ranked the valid offers of the round, best first
 */
export type ReportResults = (
  attempts: readonly ReportedAttempt[],
  quoteIds: ReadonlyMap<Address, string>,
  ranked?: readonly SignedQuote[],
) => void

interface ReportResultsOptions {
  readonly sessions: Pick<SessionTransport, 'reportResult'>
  readonly log: Logger
}

/** Builds the function. For requests over HTTP it does nothing. */
export function createReportResults({ sessions, log }: ReportResultsOptions): ReportResults {
  return (attempts, quoteIds, ranked = []) => {
    for (const { solver, onSession, result } of attempts) {
      if (onSession === undefined) continue
      const id = quoteIds.get(solver)
      try {
        if (id === undefined) continue
        const rank = result.kind === 'quoted' ? ranked.indexOf(result.offer) + 1 : 0
        sessions.reportResult(onSession, id, toSessionResult(result, rank || undefined))
      } catch (error) {
        log.error({ solver, err: error }, 'a result could not be reported to its solver')
      }
    }
  }
}
