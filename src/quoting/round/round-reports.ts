import { isBetter } from '../../../packages/protocol/src/quotes/offer.js'
import type { QuoteRequest, SignedQuote } from '../../../packages/protocol/src/quotes/quote.js'
import type { SolverKey } from '../../../packages/protocol/src/solvers/solver.js'
import {
  isOverdue,
  type ReportedResult,
  responseOf,
  type SolverResult,
  toSessionResult,
} from '../../../packages/protocol/src/solvers/solver-result.js'
import type { Address } from '../../../packages/protocol/src/values/hex.js'
import type { SolverStatistics } from '../../solvers/statistics/hourly-counts.js'
import type { SolverCounters } from '../../solvers/statistics/solver-counters.js'
import type { SessionTransport } from '../../solvers/transport/solver-transports.js'
import type { Logger } from '../../telemetry/log.js'
import type { Metrics } from '../../telemetry/metrics.js'
import type { QuoteRecorder, QuoteTrace } from '../records/quote-recorder.js'
import type { SolverAttempt } from './solver-attempt.js'

/**
 * Everyone who gets the results of rounds: metrics, statistics, records, the solvers on sessions, and the log. Prices are in
 * no metric and no statistic of a solver (docs/decisions.md, D17).
 */
export interface RoundReports {
  /** Counts the result of one request for its solver. */
  onAttempt(request: QuoteRequest, solver: SolverKey, attempt: SolverAttempt): void
  /** Counts the results of requests to solvers, before the settlement contract has checked their offers. */
  onResults(request: QuoteRequest, results: readonly SolverResult[]): void
  /** Reports a request that no quote waited for. */
  onProbe(request: QuoteRequest, attempt: SolverAttempt, quoteIds: QuoteIdsOfSolvers): void
  /**
   * Records, counts and reports a round that has ended. Logs one without an offer.
   * @param idleMs time from the best offer to the end; undefined without an offer
   */
  onEnd(trace: QuoteTrace, quoteIds: QuoteIdsOfSolvers, idleMs: number | undefined): void
  /**
   * Counts a round that asked no solver: all connections were in use, it could not begin in time, or its caller had left
   * before.
   */
  onUnstarted(request: QuoteRequest, outcome: 'busy' | 'overloaded' | 'cancelled'): void
  /** The last FIRM request of a chain that got a valid offer; undefined until the first one. */
  lastQuoted(chainId: number): QuoteRequest | undefined
}

/** Each solver's id of the quote. */
type QuoteIdsOfSolvers = ReadonlyMap<Address, string>

interface RoundReportsOptions {
  readonly recorder: Pick<QuoteRecorder, 'record'>
  readonly sessions: Pick<SessionTransport, 'reportResult'>
  readonly counters: Pick<SolverCounters, 'count' | 'countLast' | 'countWin'>
  readonly statistics: Pick<SolverStatistics, 'count' | 'countWin'>
  readonly metrics: Pick<Metrics, 'quotes' | 'solverReplies' | 'quoteIdleSeconds'>
  readonly log: Logger
}

/** What a solver sees of a request that no quote waited for, as in the record. */
const CIRCUIT_OPEN = { kind: 'circuit_open' } as const

/** Builds the reports of all rounds. */
export function createRoundReports(options: RoundReportsOptions): RoundReports {
  const { recorder, sessions, counters, statistics, metrics, log } = options
  const lastQuoted = new Map<number, QuoteRequest>()

  function countResults({ chainId, kind }: QuoteRequest, results: readonly SolverResult[]): void {
    if (kind === 'INDICATIVE') return
    let offers = 0
    for (const result of results) {
      if (result.kind === 'quoted') offers++
      else {
        const reason = (result.kind !== 'failed' && 'reason' in result && result.reason) || ''
        metrics.solverReplies.inc({ chain_id: chainId, outcome: result.kind, reason })
      }
    }
    if (offers > 0) metrics.solverReplies.inc({ chain_id: chainId, outcome: 'quoted', reason: '' }, offers)
  }

  /** Reports a result to the solver that got its request on a session (docs/decisions.md, D15). Does nothing over HTTP. */
  function reportToSolver(
    { solver, onSession }: SolverAttempt,
    result: ReportedResult,
    quoteIds: QuoteIdsOfSolvers,
    ranked: readonly SignedQuote[],
  ): void {
    const id = quoteIds.get(solver)
    if (onSession === undefined || id === undefined) return
    try {
      const rank = result.kind === 'quoted' ? ranked.indexOf(result.offer) + 1 : 0
      sessions.reportResult(onSession, id, toSessionResult(result, rank || undefined))
    } catch (error) {
      log.error({ solver, err: error }, 'a result could not be reported to its solver')
    }
  }

  function countWin(solver: SolverKey, isAlone: boolean): void {
    counters.countWin(solver)
    statistics.countWin(solver, isAlone)
  }

  function countRound({ request, outcome, ranked, attempts }: QuoteTrace, idleMs: number | undefined): void {
    const { chainId } = request
    metrics.quotes.inc({ chain_id: chainId, outcome })
    if (outcome === 'cancelled') return
    const [best] = ranked
    if (best !== undefined) countWin({ chainId, address: best.quote.solver }, ranked.length === 1)
    if (idleMs !== undefined) metrics.quoteIdleSeconds.observe({ chain_id: chainId }, idleMs / 1000)
    for (const { solver } of lastOf(attempts)) counters.countLast({ chainId, address: solver })
  }

  function logWithoutOffer({ quoteId, request, durationMs, attempts, circuitOpen }: QuoteTrace): void {
    const outcomes = attempts.map(({ solver, result, tookMs }) => {
      return { solver, outcome: result, tookMs: Math.round(tookMs) }
    })
    const level = request.kind === 'FIRM' ? 'warn' : 'debug'
    log[level](
      { quoteId, chainId: request.chainId, durationMs, outcomes, circuitOpen },
      'no solver gave a valid quote',
    )
  }

  return {
    onAttempt({ kind }, solver, { result, tookMs }) {
      if (kind === 'INDICATIVE') return
      const responseMs = responseOf(result) === undefined ? undefined : tookMs
      counters.count(solver, result.kind, responseMs && responseMs / 1000)
      statistics.count(solver, result.kind, responseMs)
    },
    onResults: countResults,
    onProbe(request, attempt, quoteIds) {
      countResults(request, [attempt.result])
      reportToSolver(attempt, CIRCUIT_OPEN, quoteIds, [])
    },
    onEnd(trace, quoteIds, idleMs) {
      const { request, outcome, attempts, ranked } = trace
      recorder.record(trace)
      for (const attempt of attempts) reportToSolver(attempt, attempt.result, quoteIds, ranked)
      if (outcome === 'no_quotes') logWithoutOffer(trace)
      if (request.kind === 'INDICATIVE') return
      countRound(trace, idleMs)
      if (outcome === 'quoted') lastQuoted.set(request.chainId, request)
    },
    onUnstarted({ chainId, kind }, outcome) {
      if (kind === 'FIRM') metrics.quotes.inc({ chain_id: chainId, outcome })
    },
    lastQuoted: (chainId) => lastQuoted.get(chainId),
  }
}

/**
 * The attempts that the round waited for last: those without a response at its end, otherwise the last response. A caller's
 * deadline that cut off others ended the waiting, so that those do not count.
 */
function lastOf(attempts: readonly SolverAttempt[]): readonly SolverAttempt[] {
  const overdue = attempts.filter(({ result }) => isOverdue(result))
  return overdue.length > 0 ? overdue : attempts.filter(({ result }) => result.kind !== 'cancelled').slice(-1)
}

/** How many solvers a round waits for, and their results by kind. */
export interface RoundCounts extends Readonly<Record<SolverResult['kind'], number>> {
  readonly asked: number
}

/** The state of a round while results come. */
export class RoundProgress {
  readonly #onBest: (offer: SignedQuote, counts: RoundCounts) => void
  readonly #counts: Record<keyof RoundCounts, number>
  #best: SignedQuote | undefined
  #bestAt: number | undefined

  /**
   * @param asked the number of solvers that the round waits for
   * @param onBest called with each new best offer, and the counts at that moment
   */
  constructor(asked: number, onBest: (offer: SignedQuote, counts: RoundCounts) => void) {
    this.#onBest = onBest
    const unanswered = { late: 0, soft_deadline: 0, failed: 0, cancelled: 0 }
    this.#counts = { asked, quoted: 0, declined: 0, invalid: 0, ...unanswered }
  }

  get counts(): RoundCounts {
    return this.#counts
  }

  /** When the best offer came, on the clock of the solvers' health; undefined without an offer. */
  get bestAt(): number | undefined {
    return this.#bestAt
  }

  add({ result }: SolverAttempt, now: number): void {
    this.#counts[result.kind]++
    if (result.kind !== 'quoted') return
    if (this.#best !== undefined && !isBetter(result.offer, this.#best)) return
    this.#bestAt = now
    this.replaceBest(result.offer)
  }

  /** Counts an offer as invalid, which the settlement contract refuses. */
  drop(): void {
    this.#counts.quoted--
    this.#counts.invalid++
  }

  /** Sets the best offer, unless it is the best one already. */
  replaceBest(offer: SignedQuote): void {
    if (offer === this.#best) return
    this.#best = offer
    this.#onBest(offer, { ...this.#counts })
  }
}

/** The number of solvers whose result is known. */
export function countAnswered({ asked: _, ...byKind }: RoundCounts): number {
  return Object.values(byKind).reduce((sum, count) => sum + count, 0)
}
