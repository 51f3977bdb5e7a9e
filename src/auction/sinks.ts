import type { QuoteRequest, SignedQuote } from '../../packages/protocol/src/quotes/quote.js'
import type { QuoteRecord } from '../../packages/protocol/src/quotes/quote-record.js'
import { responseOf, toSessionResult } from '../../packages/protocol/src/solvers/solver-result.js'
import type { SolverStatistics } from '../solvers/statistics/hourly-counts.js'
import type { SessionTransport } from '../solvers/transport/solver-transports.js'
import type { Standings } from '../standing/standing.js'
import type { Logger } from '../telemetry/log.js'
import type { Metrics } from '../telemetry/metrics.js'
import type { SolverAttempt } from './attempt.js'

/** One of those who hear of rounds: metrics, statistics, records, the solvers on sessions, the memory of nonces, traces, and the log. */
export interface RoundSink {
  /** A valid offer came that the caller may get. */
  onOffer?(request: QuoteRequest, offer: SignedQuote): void
  /** The caller gets the answer. */
  onAnswer?(round: EndedRound): void
  /** A request has ended after the answer. @param told what the answer says of it */
  onEndedLater?(told: SolverAttempt): void
  /** A round asked no solver: all connections were in use, it could not begin in time, or its caller had left before. */
  onUnstarted?(request: QuoteRequest, outcome: UnstartedOutcome): void
}

export type UnstartedOutcome = 'busy' | 'overloaded' | 'cancelled'

/** What happened in a quote. */
export interface EndedRound {
  readonly quoteId: string
  readonly request: QuoteRequest
  /** As `pairOf` writes it. */
  readonly pair: string
  /** The label of the caller's API key. */
  readonly key?: string | undefined
  /** The parent of the round's trace (W3C Trace Context). */
  readonly traceparent?: string | undefined
  /** Unix time in milliseconds. */
  readonly requestedAt: number
  readonly durationMs: number
  /** Time for which the round waited for its turn before. */
  readonly waitedMs: number
  /** Time of the settlement contract's checks after the round; undefined without them. */
  readonly verifyMs?: number | undefined
  readonly outcome: QuoteRecord['outcome']
  /** The requests to solvers: those with a valid offer first, the best one before all. */
  readonly attempts: readonly SolverAttempt[]
  /** The same, before the settlement contract has checked the offers, in the order of their results. */
  readonly checked: readonly SolverAttempt[]
}

/** Builds the sink that keeps firm offers, and the last firm request of each chain that got one. */
export function rememberFirm(
  record: (chainId: number, offer: SignedQuote) => void,
  last: Map<number, QuoteRequest>,
): RoundSink {
  return {
    onOffer({ kind, chainId }, offer) {
      if (kind === 'FIRM') record(chainId, offer)
    },
    onAnswer({ request, outcome }) {
      if (outcome === 'quoted' && request.kind === 'FIRM') last.set(request.chainId, request)
    },
  }
}

/**
 * Builds the sink that counts rounds in metrics and statistics. What solvers did is counted as it was before the settlement contract
 * checked their offers. Prices are in no metric and no statistic of a solver (docs/decisions.md, D17).
 */
export function createRoundCounts(
  standings: Standings,
  statistics: SolverStatistics,
  metrics: Metrics,
): RoundSink {
  function countAttempts({ chainId }: QuoteRequest, attempts: readonly SolverAttempt[]): void {
    for (const { solver, result, tookMs } of attempts) {
      if (result.kind === 'circuit_open') continue
      const labels = { chain_id: chainId, solver }
      const reason = (result.kind !== 'failed' && 'reason' in result && result.reason) || ''
      metrics.solverReplies.inc({ chain_id: chainId, outcome: result.kind, reason })
      const responseMs = responseOf(result) === undefined ? undefined : tookMs
      metrics.solverOutcomes.inc({ ...labels, outcome: result.kind })
      if (responseMs !== undefined) metrics.solverResponseSeconds.observe(labels, responseMs / 1000)
      statistics.count({ chainId, address: solver }, result.kind, responseMs)
    }
  }

  function countRound({ request, pair, outcome, attempts }: EndedRound): void {
    const { chainId } = request
    // What strangers ask in pairs that nobody trades must wake no operator.
    const isMissed = outcome === 'no_quotes' && standings.wasQuoted(chainId, pair)
    metrics.quotes.inc({ chain_id: chainId, outcome: isMissed ? 'missed' : outcome })
    const [best, next] = attempts
    if (outcome !== 'quoted' || best === undefined) return
    const { solver } = best
    metrics.solverWins.inc({ chain_id: chainId, solver })
    statistics.countWin({ chainId, address: solver }, next?.result.kind !== 'quoted')
  }

  return {
    onAnswer(round) {
      if (round.request.kind === 'INDICATIVE') return
      countAttempts(round.request, round.checked)
      countRound(round)
    },
    onUnstarted({ kind, chainId }, outcome) {
      if (kind === 'FIRM') metrics.quotes.inc({ chain_id: chainId, outcome })
    },
  }
}

/**
 * Builds the sink that reports its result to each solver that got its request on a session (docs/decisions.md, D15). A solver that may
 * still answer gets the report when its request has ended.
 */
export function createResultReports(sessions: SessionTransport): RoundSink {
  function report(attempt: SolverAttempt, rank?: number): void {
    const { quoteId, onSession, result } = attempt
    if (onSession !== undefined)
      sessions.reportResult(onSession, quoteId, toSessionResult(result, rank, attempt))
  }

  return {
    onAnswer({ attempts }) {
      for (const [place, attempt] of attempts.entries()) if (!attempt.isOpen) report(attempt, place + 1)
    },
    onEndedLater: report,
  }
}

/** Builds the sink that logs each round without an offer, with what came of its requests. */
export function logWithoutOffer(log: Logger): RoundSink {
  return {
    onAnswer({ outcome, quoteId, request, durationMs, attempts }) {
      if (outcome !== 'no_quotes') return
      const outcomes = attempts.map(({ solver, result, tookMs }) => {
        return { solver, outcome: result, tookMs: Math.round(tookMs) }
      })
      const level = request.kind === 'FIRM' ? 'warn' : 'debug'
      const { chainId, inputToken, outputToken, orderType, amount } = request
      const swap = { chainId, inputToken, outputToken, orderType, amount: amount.toString() }
      log[level]({ quoteId, ...swap, durationMs, outcomes }, 'no solver gave a valid quote')
    },
  }
}
