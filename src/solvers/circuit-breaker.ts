import { LRUCache } from 'lru-cache'
import { CLIENT_INTERVAL_MS, LossHistory } from './loss-history.js'

/** A time for which the breaker is open; each that follows soon takes twice as long as the one before. */
export interface OpenPeriod {
  /** How many terms there have been in close succession, this one included. */
  readonly level: number
  /** When the breaker is half-open, on its own clock. */
  readonly until: number
}

/** Whether quotes wait for the solver: `half-open` lets one do so, whose request decides. */
export type CircuitState = 'closed' | 'open' | 'half-open'

/** What one failure adds to the count, and one success takes away from it. */
const FAILURE = 1
const SUCCESS = 0.5
/** The breaker opens at this count. */
const COUNT_TO_OPEN = 3
/** The count after closing: two failures open the breaker again. */
const COUNT_AFTER_CLOSING = 1.5
/** From this level on, only a trial closes the breaker. */
const TRIAL_ONLY_LEVEL = 3
/** Clients whose last failure is remembered. */
const MAX_CLIENTS = 64
const FIRST_TERM_MS = 5_000
export const LONGEST_OPEN_MS = 300_000

/** A request to the solver. */
export interface CircuitRequest {
  /** The client that waits for it; read only when it matters. */
  readonly round: { readonly client: string }
}

interface CircuitBreakerOptions {
  /** A term from before a restart, or from another endpoint of the solver. */
  readonly openPeriod?: OpenPeriod | undefined
  /** From another endpoint of the solver, or from before it was away. */
  readonly history?: LossHistory | undefined
  /** Called with each new term, and with undefined when the breaker closes. */
  readonly onChange: (openPeriod: OpenPeriod | undefined) => void
}

/**
 * The circuit breaker of one solver. It keeps quotes from waiting for a solver that costs their callers time (docs/decisions.md,
 * D14). Times are milliseconds on a clock that never goes back.
 *
 * Each failure adds 1 to a count and each success takes 0.5 away, never below 0. One client moves the count by at most 1
 * either way in 10 s, so that no client hides what others meet, and a busy one does not add up rare failures. At 3 the
 * breaker opens: for 5 s, doubling to 5 minutes when that happens again within 5 minutes of its closing. Then it is
 * half-open: one request is the trial, and its failure alone begins the next term. A success before the end of a term
 * closes the breaker too. From the third term in close succession on, it only makes the breaker half-open, once in 5
 * minutes.
 */
export class CircuitBreaker {
  readonly history: LossHistory
  readonly #onChange: CircuitBreakerOptions['onChange']
  /** When each client's last failure counted; undefined until the first one. */
  #failedAt: LRUCache<string, number> | undefined
  #term: OpenPeriod | undefined
  #trial: CircuitRequest | undefined
  #lastLevel: number
  #closedAt = Number.NEGATIVE_INFINITY

  constructor({ openPeriod, history = new LossHistory(), onChange }: CircuitBreakerOptions) {
    this.#onChange = onChange
    this.#term = openPeriod
    this.#lastLevel = openPeriod?.level ?? 0
    this.history = history
  }

  get isClosed(): boolean {
    return this.#term === undefined
  }

  /** The level of the term under way, 0 when there is none. */
  get level(): number {
    return this.#term?.level ?? 0
  }

  /**
   * The term that another endpoint of the same solver begins with: the one under way, or one that ends now when the
   * breaker was open within the last 5 minutes. Undefined without such a past.
   */
  openPeriodElsewhere(now: number): OpenPeriod | undefined {
    if (this.#term !== undefined || !this.#wasOpenOfLate(now)) return this.#term
    return { level: this.#lastLevel, until: now }
  }

  state(now: number): CircuitState {
    if (this.#term === undefined) return 'closed'
    return now < this.#term.until || this.#trial !== undefined ? 'open' : 'half-open'
  }

  /** Whether a failure of this client's request would count now. */
  canCount(client: string, now: number): boolean {
    return isDue(this.#failedAt?.get(client), now)
  }

  /** Makes a request the trial, if the breaker is half-open. */
  beginTrial(request: CircuitRequest, now: number): void {
    if (this.state(now) === 'half-open') this.#trial = request
  }

  /** Ends a trial that says nothing; the next request may be one. */
  abandon(request: CircuitRequest): void {
    if (this.#trial === request) this.#trial = undefined
  }

  /** Takes an answer in time. */
  succeed(request: CircuitRequest, now: number): void {
    const isTrial = this.#trial === request
    this.abandon(request)
    if (this.#term === undefined) {
      // At 0 there is nothing to take away: the client's part must not fall below it either.
      if (this.history.count > 0) this.history.move(request.round.client, -SUCCESS, now)
    } else if (isTrial || this.#term.level < TRIAL_ONLY_LEVEL) this.#close(now)
    else this.#allowEarlyTrial(this.#term, now)
  }

  /**
   * Takes a failure.
   * @returns whether it counts
   */
  fail(request: CircuitRequest, now: number): boolean {
    const isTrial = this.#trial === request
    this.abandon(request)
    const { client } = request.round
    const isCounted = this.canCount(client, now)
    if (isCounted) {
      this.#failedAt ??= new LRUCache({ max: MAX_CLIENTS })
      this.#failedAt.set(client, now)
    }
    if (this.#term === undefined) this.history.move(client, FAILURE, now)
    if (this.#term === undefined ? this.history.count >= COUNT_TO_OPEN : isTrial && isCounted) this.#open(now)
    return isCounted
  }

  #close(now: number): void {
    this.#term = undefined
    this.#trial = undefined
    this.#closedAt = now
    this.history.setCount(COUNT_AFTER_CLOSING)
    this.#onChange(undefined)
  }

  #allowEarlyTrial({ level, until }: OpenPeriod, now: number): void {
    if (now < until && this.history.takeEarlyTrial(now)) this.#term = { level, until: now }
  }

  #wasOpenOfLate(now: number): boolean {
    return now - this.#closedAt <= LONGEST_OPEN_MS
  }

  #open(now: number): void {
    const isFirst = this.#term === undefined && !this.#wasOpenOfLate(now)
    const level = isFirst ? 1 : this.#lastLevel + 1
    const termMs = Math.min(FIRST_TERM_MS * 2 ** (level - 1), LONGEST_OPEN_MS)
    this.#lastLevel = level
    this.#term = { level, until: now + termMs }
    this.#onChange(this.#term)
  }
}

function isDue(last: number | undefined, now: number): boolean {
  return last === undefined || now - last >= CLIENT_INTERVAL_MS
}
