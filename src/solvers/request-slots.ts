/** A request that needs a connection to its solver. */
export interface SlotUser {
  /** Called once, when the request has its slot: at once, or after others. */
  start(now: number): void
}

/** Weight of the last request in the average. */
const LAST_WEIGHT = 1 / 8
/** A request may wait for a slot only if it has this many times the expected time, as requests do not all take equally long. */
const SAFETY_FACTOR = 1.2

/**
 * The connection slots of one solver. At most `limit` requests run at the same time, and as many more may wait. Times are
 * milliseconds on one clock.
 */
export class RequestSlots {
  readonly #limit: number
  readonly #waiting = new Set<SlotUser>()
  /** When the last requests began, as a ring buffer: waiting requests get slots in this order. */
  #startTimes: Float64Array | undefined
  #started = 0
  #running = 0
  #usualMs: number | undefined

  /** When a request was last written to a connection. */
  lastSentAt = Number.NEGATIVE_INFINITY

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Whether the next request would have to wait. */
  get isFull(): boolean {
    return this.#running >= this.#limit
  }

  /** How many requests wait. */
  get waiting(): number {
    return this.#waiting.size
  }

  /** Whether a request that comes now is expected to end before the deadline. */
  canServe(now: number, deadline: number): boolean {
    if (!this.isFull) return true
    if (this.#usualMs === undefined || this.#waiting.size >= this.#limit) return false
    const leavingSince = this.#startTimes?.[(this.#started + this.#waiting.size) % this.#limit] ?? now
    const startsAt = Math.max(now, leavingSince + this.#usualMs)
    return startsAt + this.#usualMs * SAFETY_FACTOR <= deadline
  }

  /** Gives a request a slot, or lets it wait for one. */
  add(user: SlotUser, now: number): void {
    if (this.isFull) this.#waiting.add(user)
    else this.#start(user, now)
  }

  /** Removes a request that waits. */
  remove(user: SlotUser): void {
    this.#waiting.delete(user)
  }

  /**
   * Releases a slot.
   * @param startedAt when its request got the slot
   */
  release(startedAt: number, now: number): void {
    this.#running--
    const tookMs = now - startedAt
    this.#usualMs =
      this.#usualMs === undefined ? tookMs : this.#usualMs + (tookMs - this.#usualMs) * LAST_WEIGHT
    const [next] = this.#waiting
    if (next === undefined || this.isFull) return
    this.#waiting.delete(next)
    this.#start(next, now)
  }

  #start(user: SlotUser, now: number): void {
    this.#startTimes ??= new Float64Array(this.#limit)
    this.#startTimes[this.#started % this.#limit] = now
    this.#started++
    this.#running++
    user.start(now)
  }
}
