import { LRUCache } from 'lru-cache'

/** A time for which the breaker is open; each that follows soon takes twice as long as the one before. */
export interface OpenTerm {
  /** How many terms there have been in close succession, this one included. */
  readonly level: number
  /** When the breaker is half-open, on its own clock. */
  readonly until: number
}

/** Whether quotes wait for the solver: `half-open` lets one do so, whose request decides. */
export type CircuitState = 'closed' | 'open' | 'half-open'

/** So many failures in a row open the breaker. */
const FAILURES_TO_OPEN = 3
/** One client adds one failure within this time. */
const CLIENT_INTERVAL_MS = 10_000
/** Clients whose last failure is remembered. */
const MAX_CLIENTS = 64
const FIRST_TERM_MS = 5_000
export const LONGEST_TERM_MS = 300_000

interface CircuitBreakerOptions {
  /** A term from before a restart. */
  readonly term?: OpenTerm | undefined
  /** Called with each new term, and with undefined when the breaker closes. */
  readonly onChange: (term: OpenTerm | undefined) => void
}

/**
 * Keeps quotes from waiting for a solver that costs their callers time (decisions.md D14). Times are milliseconds on a
 * clock that never goes back.
 *
 * Three failures in a row open it: for 5 s, doubling to 5 minutes when that happens again within 5 minutes of its
 * closing. Then it is half-open: one request is the trial, and its failure alone begins the next term.
 */
export class CircuitBreaker {
  readonly #onChange: CircuitBreakerOptions['onChange']
  /** When each client's last failure counted; undefined until the first one. */
  #failedAt: LRUCache<string, number> | undefined
  #term: OpenTerm | undefined
  #trial: object | undefined
  #lastLevel: number
  #closedAt = Number.NEGATIVE_INFINITY
  #failuresInARow = 0

  constructor({ term, onChange }: CircuitBreakerOptions) {
    this.#onChange = onChange
    this.#term = term
    this.#lastLevel = term?.level ?? 0
  }

  get isClosed(): boolean {
    return this.#term === undefined
  }

  /** The level of the term under way, 0 when there is none. */
  get level(): number {
    return this.#term?.level ?? 0
  }

  state(now: number): CircuitState {
    if (this.#term === undefined) return 'closed'
    return now < this.#term.until || this.#trial !== undefined ? 'open' : 'half-open'
  }

  /** Whether a failure of this client's request would count now. */
  canCount(client: string, now: number): boolean {
    const last = this.#failedAt?.get(client)
    return last === undefined || now - last >= CLIENT_INTERVAL_MS
  }

  /** Makes a request the trial, if the breaker is half-open. */
  beginTrial(request: object, now: number): void {
    if (this.state(now) === 'half-open') this.#trial = request
  }

  /** Ends a trial that says nothing; the next request may be one. */
  abandon(request: object): void {
    if (this.#trial === request) this.#trial = undefined
  }

  /** Takes an answer in time. */
  succeed(now: number): void {
    this.#failuresInARow = 0
    if (this.#term === undefined) return
    this.#term = undefined
    this.#trial = undefined
    this.#closedAt = now
    this.#onChange(undefined)
  }

  /**
   * Takes a failure.
   * @param client whose request it was
   * @returns whether it counts
   */
  fail(request: object, client: string, now: number): boolean {
    const isTrial = this.#trial === request
    this.abandon(request)
    if (!this.canCount(client, now)) return false
    this.#failedAt ??= new LRUCache({ max: MAX_CLIENTS })
    this.#failedAt.set(client, now)
    this.#failuresInARow++
    if (this.#term === undefined ? this.#failuresInARow >= FAILURES_TO_OPEN : isTrial) this.#open(now)
    return true
  }

  #open(now: number): void {
    const isFirst = this.#term === undefined && now - this.#closedAt > LONGEST_TERM_MS
    const level = isFirst ? 1 : this.#lastLevel + 1
    const termMs = Math.min(FIRST_TERM_MS * 2 ** (level - 1), LONGEST_TERM_MS)
    this.#lastLevel = level
    this.#term = { level, until: now + termMs }
    this.#onChange(this.#term)
  }
}
