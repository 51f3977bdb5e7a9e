import type { Solver } from '../domain/solver.js'
import { CircuitBreaker, type OpenPeriod } from './circuit-breaker.js'
import type { LossHistory } from './loss-history.js'
import type { QuoteRound, Verdict } from './quote-round.js'
import { QuotedPairs } from './quoted-pairs.js'
import type { RequestSlots } from './request-slots.js'

/** What a solver may expect of a quote. */
export type HealthStatus =
  /** It answers well: asked and waited for. */
  | 'healthy'
  /** It loses time or is slow, or this is the trial of a half-open breaker: asked and waited for, after the healthy. */
  | 'degraded'
  /** Nothing comes from it while others answer: not asked until something does. */
  | 'stalled'
  /** Its circuit breaker is open: not waited for. */
  | 'open'

/** A request that a solver has not answered yet. */
export interface OpenRequest {
  readonly round: QuoteRound
  /** Since when the solver keeps it waiting; undefined while it waits for a connection here. */
  readonly waitingSince: number | undefined
}

/** With an open breaker, a solver is asked this often without a quote that waits. */
const PROBE_INTERVAL_MS = 5_000
/** A probe that ends so soon without an offer makes room for the next. */
const PROMPT_MS = 100
/** So many requests must be open at once before a solver counts as stalled. */
const REQUESTS_TO_STALL = 3
/** A solver stalls when it takes so many times as long as it usually does, */
const STALL_FACTOR = 3
/** but not within this part of the quote's time-out. */
const STALL_SHARE = 1 / 40
/** A result without an offer loses no time when it comes within so many times what the solver's quotes usually take. */
const DECLINE_FACTOR = 2
/** Weight of the last sample in the averages. */
const LAST_WEIGHT = 1 / 8
/** A healthy solver answers so often, of the requests that it does not decline, */
const HEALTHY_VALID_SHARE = 0.8
/** and usually within this part of the quote's time-out. */
const HEALTHY_LATENCY_SHARE = 1 / 2

interface SolverHealthOptions {
  readonly quoteTimeoutMs: number
  readonly slots: RequestSlots
  /** A term of the circuit breaker from before a restart, or from another endpoint of the solver. */
  readonly openPeriod?: OpenPeriod | undefined
  /** From another endpoint of the solver, or from before it was away. */
  readonly history?: LossHistory | undefined
  /** Called with each new term of the circuit breaker, and with undefined when it closes. */
  readonly onBreaker: (openPeriod: OpenPeriod | undefined) => void
}

/**
 * How one solver has answered of late. Times are milliseconds on a clock that never goes back.
 *
 * What counts against it is lost time, and only for a token pair that it is known to quote (docs/decisions.md, D14): a caller
 * can ask what no honest solver answers.
 */
export class SolverHealth {
  /** Places among the connections to its endpoint. */
  readonly slots: RequestSlots
  readonly #quoteTimeoutMs: number
  readonly #breaker: CircuitBreaker
  readonly #pairs = new QuotedPairs()
  /**
   * The oldest first. Not a set: one that is filled and emptied all the time leaves old tables behind, and these keep
   * requests that are over alive until the next collection of the whole heap.
   */
  readonly #open: OpenRequest[] = []
  /** Requests that say nothing of the solver when they fail have probes of their own: they take none from the others. */
  readonly #probedAt = { significant: Number.NEGATIVE_INFINITY, other: Number.NEGATIVE_INFINITY }
  #answeredAt = Number.NEGATIVE_INFINITY
  #validShare = 1
  #usualMs: number | undefined

  /** @param solver replaced when its registration changes */
  constructor(
    public solver: Solver,
    { quoteTimeoutMs, slots, openPeriod, history, onBreaker }: SolverHealthOptions,
  ) {
    this.#quoteTimeoutMs = quoteTimeoutMs
    this.slots = slots
    this.#breaker = new CircuitBreaker({ openPeriod, history, onChange: onBreaker })
  }

  /** Of its last quotes and time losses, the part that were quotes. */
  get validShare(): number {
    return this.#validShare
  }

  /** How long its quotes usually take; undefined until there is one. */
  get usualMs(): number | undefined {
    return this.#usualMs
  }

  /** Whether its circuit breaker is open or half-open. */
  get isOpen(): boolean {
    return !this.#breaker.isClosed
  }

  /** How bad it is, to find the least bad when all breakers are open. */
  get severity(): number {
    return this.#breaker.level
  }

  /** What another endpoint of this solver begins with, beside the term. */
  get lossHistory(): LossHistory {
    return this.#breaker.history
  }

  /** The term of the circuit breaker that another endpoint of this solver begins with; undefined for no history. */
  openPeriodElsewhere(now: number): OpenPeriod | undefined {
    return this.#breaker.openPeriodElsewhere(now)
  }

  status(round: QuoteRound, now: number): HealthStatus {
    const state = this.#breaker.state(now)
    if (state === 'open') return 'open'
    if (state === 'half-open') return this.#isTelling(round, now) ? 'degraded' : 'open'
    if (this.#isStalled(now)) return 'stalled'
    const isQuick = (this.#usualMs ?? 0) <= this.#quoteTimeoutMs * HEALTHY_LATENCY_SHARE
    return isQuick && this.#validShare >= HEALTHY_VALID_SHARE ? 'healthy' : 'degraded'
  }

  /** Whether it is time to ask a solver with an open breaker though no quote waits for it. */
  isProbeDue(round: QuoteRound, now: number): boolean {
    if (!this.isOpen || this.slots.isFull) return false
    return now - this.#probedAt[this.#isTelling(round, now) ? 'significant' : 'other'] >= PROBE_INTERVAL_MS
  }

  /** Notes that the solver is asked from now on. */
  begin(request: OpenRequest, now: number): void {
    this.#open.push(request)
    if (!this.isOpen) return
    const isSignificant = this.#isTelling(request.round, now)
    this.#probedAt[isSignificant ? 'significant' : 'other'] = now
    if (isSignificant) this.#breaker.beginTrial(request, now)
  }

  /**
   * Notes that a request is over.
   * @param isAnswered whether anything came from the solver
   */
  end(request: OpenRequest, now: number, isAnswered: boolean): void {
    const index = this.#open.indexOf(request)
    if (index >= 0) this.#open.splice(index, 1)
    if (isAnswered) this.#answeredAt = now
  }

  /** Takes a valid offer. */
  noteQuote(request: OpenRequest, tookMs: number, now: number): void {
    this.#pairs.note(request.round.pair, now)
    this.#usualMs =
      this.#usualMs === undefined ? tookMs : this.#usualMs + (tookMs - this.#usualMs) * LAST_WEIGHT
    this.#validShare += (1 - this.#validShare) * LAST_WEIGHT
    this.#breaker.succeed(request, now)
  }

  /** Takes the verdict on a request without an offer. */
  noteUnanswered(request: OpenRequest, verdict: Verdict, tookMs: number, now: number): void {
    const isSignificant = verdict !== 'none' && this.#pairs.canExpect(request.round.pair, now)
    if (!isSignificant || (verdict === 'slow' && this.#isUsual(tookMs)))
      this.#noteNothing(request, tookMs, now)
    else if (verdict === 'declined') this.#breaker.succeed(request, now)
    else this.#noteLoss(request, now)
  }

  /** What ends at once keeps the next request from no probe: else one client's requests could take all of them. */
  #noteNothing(request: OpenRequest, tookMs: number, now: number): void {
    this.#breaker.abandon(request)
    if (this.isOpen && tookMs <= PROMPT_MS && this.#isTelling(request.round, now))
      this.#probedAt.significant = Number.NEGATIVE_INFINITY
  }

  #noteLoss(request: OpenRequest, now: number): void {
    const levelBefore = this.severity
    if (!this.#breaker.fail(request, now)) return
    this.#validShare -= this.#validShare * LAST_WEIGHT
    if (this.severity !== levelBefore) this.#probedAt.significant = this.#probedAt.other = now
  }

  /** The caller would have waited as long for a quote. */
  #isUsual(tookMs: number): boolean {
    return this.#usualMs !== undefined && tookMs <= this.#usualMs * DECLINE_FACTOR
  }

  /** Whether a failure of this round would count. */
  #isTelling(round: QuoteRound, now: number): boolean {
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

  /** Nothing has come from the solver since it was sent this request, for a pair that it is known to quote. */
  #isKeptWaiting({ round, waitingSince }: OpenRequest, now: number): boolean {
    if (waitingSince === undefined || waitingSince < this.#answeredAt) return false
    return this.#pairs.canExpect(round.pair, now)
  }
}
