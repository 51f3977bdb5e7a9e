import { LRUCache } from 'lru-cache'

/** A period in which the breaker is open. A period that follows soon is twice as long as the one before. */
export interface OpenPeriod {
  /** The number of open periods in close succession, with this one. */
  readonly level: number
  /** When the breaker becomes half-open, on its own clock. */
  readonly until: number
}

/** Whether quotes wait for the solver. In `half-open`, one quote does, and its request decides. */
export type CircuitState = 'closed' | 'open' | 'half-open'

/** A failure adds the first to the count, a success subtracts the second. */
const FAILURE = 1
const SUCCESS = 0.5
/** The breaker opens at this count. */
const COUNT_TO_OPEN = 3
/** The count after closing: two failures open the breaker again. */
const COUNT_AFTER_CLOSING = 1.5
/** From this level on, only a trial closes the breaker. */
const TRIAL_ONLY_LEVEL = 3
/** The clients whose last failures, and whose parts of the count, are kept. */
const MAX_CLIENTS = 64
const FIRST_OPEN_MS = 5_000
export const LONGEST_OPEN_MS = 300_000

/** A request to the solver. */
interface CircuitRequest {
  /** The client that waits for it; computed only when it is read. */
  readonly round: { readonly client: string }
}

interface CircuitBreakerOptions {
  /** An open period from before a restart, or from another endpoint of the solver. */
  readonly openPeriod?: OpenPeriod | undefined
  /** The history from another endpoint of the solver, or from its last registration. */
  readonly history?: LossHistory | undefined
  /** Called with each new open period, and with undefined when the breaker closes. */
  readonly onChange: (openPeriod: OpenPeriod | undefined) => void
}

/**
 * The circuit breaker of one solver. It keeps quotes from waiting for a solver that costs their callers time
 * (docs/decisions.md, D14). Times are milliseconds on a clock that never goes back.
 *
 * Each failure adds 1 to a count and each success subtracts 0.5, never below 0. One client moves the count by at most 1
 * up or down in 10 s. So no client hides the failures of others, and a busy client does not add up rare failures.
 *
 * At 3 the breaker opens for 5 s. When it opens again within 5 minutes of its closing, this time doubles, up to 5 minutes.
 * Then it is half-open: one request is the trial, and only its failure begins the next open period. A success before the
 * end of an open period also closes the breaker. From the third period in close succession on, such a success only makes
 * the breaker half-open, once in 5 minutes.
 */
export class CircuitBreaker {
  readonly history: LossHistory
  readonly #onChange: CircuitBreakerOptions['onChange']
  /** When each client's last failure counted; undefined until the first one. */
  #failedAt: LRUCache<string, number> | undefined
  #openPeriod: OpenPeriod | undefined
  #trial: CircuitRequest | undefined
  #lastLevel: number
  #closedAt = Number.NEGATIVE_INFINITY

  constructor({ openPeriod, history = new LossHistory(), onChange }: CircuitBreakerOptions) {
    this.#onChange = onChange
    this.#openPeriod = openPeriod
    this.#lastLevel = openPeriod?.level ?? 0
    this.history = history
  }

  get isClosed(): boolean {
    return this.#openPeriod === undefined
  }

  /** The level of the current open period, 0 when there is none. */
  get level(): number {
    return this.#openPeriod?.level ?? 0
  }

  /**
   * The open period that another endpoint of the same solver begins with: the current one, or one that ends now when the
   * breaker was open within the last 5 minutes. Otherwise undefined.
   */
  openPeriodElsewhere(now: number): OpenPeriod | undefined {
    if (this.#openPeriod !== undefined || !this.#wasOpenOfLate(now)) return this.#openPeriod
    return { level: this.#lastLevel, until: now }
  }

  state(now: number): CircuitState {
    if (this.#openPeriod === undefined) return 'closed'
    return now < this.#openPeriod.until || this.#trial !== undefined ? 'open' : 'half-open'
  }

  /** Whether a failure of this client's request would count now. */
  canCount(client: string, now: number): boolean {
    return isDue(this.#failedAt?.get(client), now)
  }

  /** Makes a request the trial if the breaker is half-open. */
  beginTrial(request: CircuitRequest, now: number): void {
    if (this.state(now) === 'half-open') this.#trial = request
  }

  /** Ends a trial without a result, so that another request may be the trial. */
  abandon(request: CircuitRequest): void {
    if (this.#trial === request) this.#trial = undefined
  }

  /** Records a response in time. */
  succeed(request: CircuitRequest, now: number): void {
    const isTrial = this.#trial === request
    this.abandon(request)
    if (this.#openPeriod === undefined) {
      // At 0, the client's part must not fall either.
      if (this.history.count > 0) this.history.move(request.round.client, -SUCCESS, now)
    } else if (isTrial || this.#openPeriod.level < TRIAL_ONLY_LEVEL) this.#close(now)
    else this.#allowEarlyTrial(this.#openPeriod, now)
  }

  /**
   * Records a failure.
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
    if (this.#openPeriod === undefined) this.history.move(client, FAILURE, now)
    if (this.#openPeriod === undefined ? this.history.count >= COUNT_TO_OPEN : isTrial && isCounted)
      this.#open(now)
    return isCounted
  }

  #close(now: number): void {
    this.#openPeriod = undefined
    this.#trial = undefined
    this.#closedAt = now
    this.history.setCount(COUNT_AFTER_CLOSING)
    this.#onChange(undefined)
  }

  #allowEarlyTrial({ level, until }: OpenPeriod, now: number): void {
    if (now < until && this.history.takeEarlyTrial(now)) this.#openPeriod = { level, until: now }
  }

  #wasOpenOfLate(now: number): boolean {
    return now - this.#closedAt <= LONGEST_OPEN_MS
  }

  #open(now: number): void {
    const isFirst = this.#openPeriod === undefined && !this.#wasOpenOfLate(now)
    const level = isFirst ? 1 : this.#lastLevel + 1
    const periodMs = Math.min(FIRST_OPEN_MS * 2 ** (level - 1), LONGEST_OPEN_MS)
    this.#lastLevel = level
    this.#openPeriod = { level, until: now + periodMs }
    this.#onChange(this.#openPeriod)
  }
}

function isDue(last: number | undefined, now: number): boolean {
  return last === undefined || now - last >= CLIENT_INTERVAL_MS
}

/** Within this time, one client moves the count by at most 1 up or down. */
const CLIENT_INTERVAL_MS = 10_000
const MOST_PER_CLIENT = 1
const EARLY_TRIAL_INTERVAL_MS = 300_000

/** The sum of what one client has added and subtracted since a time. */
interface ClientPart {
  readonly since: number
  sum: number
}

/**
 * The history that a solver keeps at another endpoint: how much time it has cost callers, and the part of each client in that. A
 * failure raises the count, and a success lowers it to 0 at the least. It also has the time of the last early trial.
 */
export class LossHistory {
  /** Undefined until the first client. */
  #parts: LRUCache<string, ClientPart> | undefined
  #count = 0
  #earlyTrialAt = Number.NEGATIVE_INFINITY

  get count(): number {
    return this.#count
  }

  /** Sets the count; the parts of clients stay. */
  setCount(count: number): void {
    this.#count = count
  }

  /**
   * Uses the solver's early trial: a trial before the end of an open period. So a solver that answers only when no quote
   * waits, or that changes its endpoint repeatedly, costs the time of one caller in 5 minutes.
   * @returns whether the early trial is allowed now
   */
  takeEarlyTrial(now: number): boolean {
    if (now - this.#earlyTrialAt < EARLY_TRIAL_INTERVAL_MS) return false
    this.#earlyTrialAt = now
    return true
  }

  /** Moves the count for a client, within the client's limit. @param now in milliseconds */
  move(client: string, by: number, now: number): void {
    this.#parts ??= new LRUCache({ max: MAX_CLIENTS })
    const known = this.#parts.get(client)
    const part =
      known === undefined || now - known.since >= CLIENT_INTERVAL_MS ? { since: now, sum: 0 } : known
    const sum = Math.max(-MOST_PER_CLIENT, Math.min(MOST_PER_CLIENT, part.sum + by))
    this.#count = Math.max(0, this.#count + sum - part.sum)
    part.sum = sum
    if (part !== known) this.#parts.set(client, part)
  }
}
