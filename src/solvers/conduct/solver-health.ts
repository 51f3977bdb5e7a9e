import { LRUCache } from 'lru-cache'
import type { Solver } from '../../../packages/protocol/src/solvers/solver.js'
import { CircuitBreaker, type CircuitState, type LossHistory, type OpenPeriod } from './circuit-breaker.js'
import type { RequestSlots } from './request-slots.js'
import type { QuoteRound, Verdict } from './round-verdicts.js'

/** How a quote treats a solver. */
type HealthStatus =
  /** It answers well. The quote asks it and waits for it. */
  | 'healthy'
  /** It loses time, is slow, or has the trial of a half-open breaker. The quote asks it after healthy ones, and waits for it. */
  | 'degraded'
  /** It does not answer while others do. The quote does not ask it until it answers. */
  | 'stalled'
  /** Its circuit breaker is open. The quote does not wait for it. */
  | 'open'

/** A request that a solver has not answered yet. */
export interface OpenRequest {
  readonly round: QuoteRound
  /** When the wait for the solver began; undefined while the request waits for a connection of this service. */
  readonly waitingSince: number | undefined
}

/** The interval of probes with an open breaker: requests that no quote waits for. */
const PROBE_INTERVAL_MS = 5_000
/** After a probe that ends this soon without an offer, the next one may follow at once. */
const PROMPT_MS = 100
/** The requests that must be open at the same time before a solver counts as stalled. */
const REQUESTS_TO_STALL = 3
/** A solver stalls when it takes this many times as long as its offers usually do. */
const STALL_FACTOR = 3
/** A solver does not stall within this part of the quote timeout. */
const STALL_SHARE = 1 / 40
/** A result without an offer loses no time when it comes within this many times the usual time of the solver's offers. */
const DECLINE_FACTOR = 2
/** Weight of the last sample in the averages. */
const LAST_WEIGHT = 1 / 8
/** The smallest share of valid offers of a healthy solver, without the requests that it declines. */
const HEALTHY_VALID_SHARE = 0.8
/** The usual time of a healthy solver is within this part of the quote timeout. */
const HEALTHY_LATENCY_SHARE = 1 / 2

interface SolverHealthOptions {
  readonly quoteTimeoutMs: number
  /** 0 for none. */
  readonly quoteSoftTimeoutMs: number
  readonly slots: RequestSlots
  /** An open period of the circuit breaker from before a restart, or from another endpoint of the solver. */
  readonly openPeriod?: OpenPeriod | undefined
  /** The history from another endpoint of the solver, or from its last registration. */
  readonly history?: LossHistory | undefined
  /** Called with each new open period of the circuit breaker, and with undefined when it closes. */
  readonly onBreaker: (openPeriod: OpenPeriod | undefined) => void
}

/**
 * The recent health of one solver. Times are milliseconds on a clock that never goes back.
 *
 * Only lost time counts against a solver, and only for a token pair that it is known to quote (docs/decisions.md, D14). A
 * caller may request a quote that no honest solver offers.
 */
export class SolverHealth {
  readonly #quoteTimeoutMs: number
  readonly #softTimeoutMs: number
  readonly #breaker: CircuitBreaker
  readonly #pairs = new QuotedPairs()
  /**
   * The open requests, the oldest first. This is not a set: a set that is filled and emptied all the time leaves old tables,
   * which keep ended requests in memory until the next collection of the whole heap.
   */
  readonly #open: OpenRequest[] = []
  /** Requests whose failure would not count have separate probes, so that they take none from the others. */
  readonly #probedAt = { significant: Number.NEGATIVE_INFINITY, other: Number.NEGATIVE_INFINITY }
  #answeredAt = Number.NEGATIVE_INFINITY
  #validShare = 1
  #usualMs: number | undefined
  #solver: Solver
  #slots: RequestSlots

  constructor(
    solver: Solver,
    { quoteTimeoutMs, quoteSoftTimeoutMs, slots, openPeriod, history, onBreaker }: SolverHealthOptions,
  ) {
    this.#quoteTimeoutMs = quoteTimeoutMs
    this.#softTimeoutMs = quoteSoftTimeoutMs || Number.POSITIVE_INFINITY
    this.#solver = solver
    this.#slots = slots
    this.#breaker = new CircuitBreaker({ openPeriod, history, onChange: onBreaker })
  }

  get solver(): Solver {
    return this.#solver
  }

  /** The slots for requests to its endpoint, or on its session. A request releases those that it took. */
  get slots(): RequestSlots {
    return this.#slots
  }

  /** The share of offers among its last offers and time losses. */
  get validShare(): number {
    return this.#validShare
  }

  /** The usual time of its offers; undefined until there is one. */
  get usualMs(): number | undefined {
    return this.#usualMs
  }

  /** Whether its circuit breaker is open or half-open. */
  get isOpen(): boolean {
    return !this.#breaker.isClosed
  }

  circuitState(now: number): CircuitState {
    return this.#breaker.state(now)
  }

  /** The level of its open period, to find the least severe solver when all breakers are open. */
  get severity(): number {
    return this.#breaker.level
  }

  /** The history that another endpoint of this solver begins with, in addition to the open period. */
  get lossHistory(): LossHistory {
    return this.#breaker.history
  }

  /** The open period that another endpoint of this solver begins with; undefined when the breaker was not open recently. */
  openPeriodElsewhere(now: number): OpenPeriod | undefined {
    return this.#breaker.openPeriodElsewhere(now)
  }

  /** Replaces the solver's registration or session, and the slots of its requests. */
  connect(solver: Solver, slots: RequestSlots): void {
    this.#solver = solver
    this.#slots = slots
  }

  status(round: QuoteRound, now: number): HealthStatus {
    const state = this.#breaker.state(now)
    if (state === 'open') return 'open'
    if (state === 'half-open') return this.#isSignificant(round, now) ? 'degraded' : 'open'
    if (this.#isStalled(now)) return 'stalled'
    const isQuick = (this.#usualMs ?? 0) <= this.#quoteTimeoutMs * HEALTHY_LATENCY_SHARE
    return isQuick && this.#validShare >= HEALTHY_VALID_SHARE ? 'healthy' : 'degraded'
  }

  /** Whether it is time for a probe: a request to a solver with an open breaker that no quote waits for. */
  isProbeDue(round: QuoteRound, now: number): boolean {
    if (!this.isOpen || this.slots.isFull) return false
    return (
      now - this.#probedAt[this.#isSignificant(round, now) ? 'significant' : 'other'] >= PROBE_INTERVAL_MS
    )
  }

  /** Records that a request begins. */
  begin(request: OpenRequest, now: number): void {
    this.#open.push(request)
    if (!this.isOpen) return
    const isSignificant = this.#isSignificant(request.round, now)
    this.#probedAt[isSignificant ? 'significant' : 'other'] = now
    if (isSignificant) this.#breaker.beginTrial(request, now)
  }

  /**
   * Records that a request has ended.
   * @param isAnswered whether the solver sent a response
   */
  end(request: OpenRequest, now: number, isAnswered: boolean): void {
    const index = this.#open.indexOf(request)
    if (index >= 0) this.#open.splice(index, 1)
    if (isAnswered) this.#answeredAt = now
  }

  /** Records a valid offer, before the round does. One that the instance's own soft deadline would have cut off is no success. */
  recordQuote(request: OpenRequest, tookMs: number, now: number): void {
    this.#pairs.record(request.round.pair, now)
    this.#usualMs =
      this.#usualMs === undefined ? tookMs : this.#usualMs + (tookMs - this.#usualMs) * LAST_WEIGHT
    if (tookMs > this.#softTimeoutMs && request.round.hasQuote) {
      this.#breaker.abandon(request)
      return
    }
    this.#validShare += (1 - this.#validShare) * LAST_WEIGHT
    this.#breaker.succeed(request, now)
  }

  /** Records the verdict on a request without an offer. */
  recordUnanswered(request: OpenRequest, verdict: Verdict, tookMs: number, now: number): void {
    const isExpected = verdict !== 'none' && this.#pairs.canExpect(request.round.pair, now)
    if (!isExpected || (verdict === 'slow' && this.#isUsual(tookMs)))
      this.#recordNothing(request, tookMs, now)
    else if (verdict === 'declined') this.#breaker.succeed(request, now)
    else this.#recordLoss(request, now)
  }

  /** A probe that ends at once lets the next one begin at once. Otherwise, requests of one client could use all probes. */
  #recordNothing(request: OpenRequest, tookMs: number, now: number): void {
    this.#breaker.abandon(request)
    if (this.isOpen && tookMs <= PROMPT_MS && this.#isSignificant(request.round, now))
      this.#probedAt.significant = Number.NEGATIVE_INFINITY
  }

  #recordLoss(request: OpenRequest, now: number): void {
    const levelBefore = this.severity
    if (!this.#breaker.fail(request, now)) return
    this.#validShare -= this.#validShare * LAST_WEIGHT
    if (this.severity !== levelBefore) this.#probedAt.significant = this.#probedAt.other = now
  }

  /** Whether the caller would have waited as long for an offer. */
  #isUsual(tookMs: number): boolean {
    return this.#usualMs !== undefined && tookMs <= this.#usualMs * DECLINE_FACTOR
  }

  /** Whether a failure of this round would count. */
  #isSignificant(round: QuoteRound, now: number): boolean {
    return this.#pairs.canExpect(round.pair, now) && this.#breaker.canCount(round.client, now)
  }

  #isStalled(now: number): boolean {
    const stallMs = Math.max(this.#quoteTimeoutMs * STALL_SHARE, (this.#usualMs ?? 0) * STALL_FACTOR)
    if (this.#open.length < REQUESTS_TO_STALL || now - this.#answeredAt <= stallMs) return false
    let waiting = 0
    for (const request of this.#open) {
      if (!this.#isKeptWaiting(request, now)) continue
      if (waiting === 0 && now - (request.round.answeredAt ?? now) <= stallMs) return false
      if (++waiting === REQUESTS_TO_STALL) return true
    }
    return false
  }

  /** Whether the solver has sent nothing since this request, whose pair it is known to quote. */
  #isKeptWaiting({ round, waitingSince }: OpenRequest, now: number): boolean {
    if (waitingSince === undefined || waitingSince < this.#answeredAt) return false
    return this.#pairs.canExpect(round.pair, now)
  }
}

const MAX_PAIRS = 512
const LIFETIME_MS = 24 * 3_600_000
/** The shortest interval between two updates of a pair's time. */
const REFRESH_MS = 60_000

/** The token pairs that one solver has quoted within 24 hours, the last 512 of them (docs/decisions.md, D14). */
class QuotedPairs {
  /** Undefined until the first offer. */
  #quotedAt: LRUCache<string, number> | undefined

  /** Records a valid offer. */
  record(pair: string, now: number): void {
    this.#quotedAt ??= new LRUCache({ max: MAX_PAIRS })
    const last = this.#quotedAt.get(pair)
    if (last === undefined || now - last > REFRESH_MS) this.#quotedAt.set(pair, now)
  }

  /** Whether the solver is expected to quote this pair. A solver that has never quoted is expected to quote every pair. */
  canExpect(pair: string, now: number): boolean {
    if (this.#quotedAt === undefined) return true
    const last = this.#quotedAt.get(pair)
    return last !== undefined && now - last <= LIFETIME_MS
  }
}
