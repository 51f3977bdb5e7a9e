import type { SignedQuote } from '../../packages/protocol/src/quotes/quote.js'
import { type ReportedResult, toSessionResult } from '../../packages/protocol/src/solvers/solver-result.js'
import type { SessionTransport } from '../solvers/transport/solver-transports.js'
import type { Logger } from '../telemetry/log.js'
import type { SolverAttempt } from './attempt.js'
import type { QuoteIdsOfSolvers, RoundSink } from './sinks.js'

interface ReportsOptions {
  readonly sessions: Pick<SessionTransport, 'reportResult'>
  readonly log: Logger
}

/** What a solver sees of a request that no quote waited for, as in the record. */
const CIRCUIT_OPEN = { kind: 'circuit_open' } as const

/**
 * Builds the sink that reports its result to each solver that got its request on a session (docs/decisions.md, D15). A solver that may
 * still answer gets the report when its request has ended.
 */
export function createResultReports({ sessions, log }: ReportsOptions): RoundSink {
  function report(
    attempt: SolverAttempt,
    quoteIds: QuoteIdsOfSolvers,
    result: ReportedResult = attempt.result,
    ranked: readonly SignedQuote[] = [],
  ): void {
    const { solver, onSession } = attempt
    const id = quoteIds.get(solver)
    if (onSession === undefined || id === undefined) return
    try {
      const rank = result.kind === 'quoted' ? ranked.indexOf(result.offer) + 1 : 0
      sessions.reportResult(onSession, id, toSessionResult(result, rank || undefined, attempt))
    } catch (error) {
      log.error({ solver, err: error }, 'a result could not be reported to its solver')
    }
  }

  return (event) => {
    if (event.kind === 'ended') {
      for (const attempt of event.attempts)
        if (!attempt.isOpen) report(attempt, event.quoteIds, attempt.result, event.ranked)
    } else if (event.kind === 'cut_off_ended') report(event.attempt, event.quoteIds)
    else if (event.kind === 'probed') report(event.attempt, event.quoteIds, CIRCUIT_OPEN)
  }
}
