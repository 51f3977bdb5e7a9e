import { LRUCache } from 'lru-cache'

/** Whether quotes ask the solver: `open` and `half-open` do not. A `half-open` one is probed. */
export type CircuitState = 'closed' | 'open' | 'half-open'

const LOSS = 1
const ANSWER = 0.5
const LOSSES_TO_OPEN = 3
/** After it has closed, two losses open it again. */
const LOSSES_AFTER_CLOSING = 1.5
/** One client counts once in this time. */
const CLIENT_MS = 10_000
const MAX_CLIENTS = 64
const FIRST_OPEN_MS = 5_000
const LONGEST_OPEN_MS = 300_000
const PROBE_MS = 5_000

/**
 * The circuit breaker of one solver. It keeps quotes from a solver that costs their callers time (docs/decisions.md, D14, D30).
 *
 * A loss adds 1 to a count and an answer subtracts 0.5, never below 0. What comes of a client's requests counts once in 10 s. So no
 * client opens the breaker alone with requests that come at once, and none hides the losses of others.
 *
 * At 3 the breaker opens for 5 s. When it opens again within 5 minutes of its closing, this time doubles, up to 5 minutes. Then
 * it is half-open: a round asks the solver every 5 s, and does not wait for it. The first answer closes it. No answer changes nothing, so a
 * solver that comes back after a long time is asked again at once.
 */
export class CircuitBreaker {
  /** When each client last counted. */
  readonly #countedAt = new LRUCache<string, number>({ max: MAX_CLIENTS })
  #probedAt = Number.NEGATIVE_INFINITY
  /** The losses less the answers. */
  #count = 0
  #level = 0
  #isClosed = true
  #openUntil = Number.NEGATIVE_INFINITY
  #closedAt = Number.NEGATIVE_INFINITY

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** The number of open periods in close succession. */
  get level(): number {
    return this.#level
  }

  state(now: number): CircuitState {
    if (this.#isClosed) return 'closed'
    return now < this.#openUntil ? 'open' : 'half-open'
  }

  isProbeDue(now: number): boolean {
    return this.state(now) === 'half-open' && now - this.#probedAt >= PROBE_MS
  }

  recordProbe(now: number): void {
    this.#probedAt = now
  }

  recordAnswer(client: string, now: number): void {
    if (this.state(now) === 'half-open') this.#close(now)
    // At 0, the client may still have to report a loss.
    else if (this.#count > 0 && this.#mayCount(client, now)) this.#count = Math.max(0, this.#count - ANSWER)
  }

  recordLoss(client: string, now: number): void {
    if (!this.#isClosed || !this.#mayCount(client, now)) return
    this.#count += LOSS
    if (this.#count >= LOSSES_TO_OPEN) this.#open(now)
  }

  #mayCount(client: string, now: number): boolean {
    const countedAt = this.#countedAt.get(client)
    if (countedAt !== undefined && now - countedAt < CLIENT_MS) return false
    this.#countedAt.set(client, now)
    return true
  }

  #open(now: number): void {
    this.#level = now - this.#closedAt <= LONGEST_OPEN_MS ? this.#level + 1 : 1
    this.#isClosed = false
    this.#openUntil = now + Math.min(FIRST_OPEN_MS * 2 ** (this.#level - 1), LONGEST_OPEN_MS)
  }

  #close(now: number): void {
    this.#isClosed = true
    this.#closedAt = now
    this.#count = LOSSES_AFTER_CLOSING
  }
}
