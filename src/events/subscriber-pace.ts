/** Time for which a subscriber may take nothing of what it received. */
const STALL_MS = 10_000
/** Time for which a subscriber may lag after it has caught up. */
const MAX_LAG_MS = 60_000

/** How fast a subscriber takes what it receives. Times for which it waits for the service do not count. */
export class Pace {
  /** Start of sending the last events; undefined while it waits for more. */
  #busySince: number | undefined
  /** Since when it has lagged, after it had caught up. */
  #laggingSince: number | undefined
  /** Start of its wait for a part of the log. */
  #waitsSince: number | undefined
  #hasCaughtUp = false
  readonly #clock: () => number

  /** @param clock milliseconds that never go back */
  constructor(clock: () => number) {
    this.#clock = clock
    this.#busySince = clock()
  }

  /** It has sent the last events and requests more. */
  request(): void {
    this.#busySince = undefined
  }

  /** It has received events to send. */
  receive(): void {
    this.#busySince = this.#clock()
  }

  startWait(): void {
    this.#waitsSince ??= this.#clock()
  }

  endWait(): void {
    if (this.#laggingSince !== undefined && this.#waitsSince !== undefined)
      this.#laggingSince += this.#clock() - this.#waitsSince
    this.#waitsSince = undefined
  }

  /** It has moved through the log. */
  move(isAtEnd: boolean): void {
    if (isAtEnd) this.#laggingSince = undefined
    else if (this.#hasCaughtUp) this.#laggingSince ??= this.#clock()
  }

  /** It waits at the end of the log. From now on it may lag only for a while. */
  catchUp(): void {
    this.#hasCaughtUp = true
    this.#laggingSince = undefined
  }

  /** Excuses its lag so far, which the service has caused. */
  excuse(): void {
    this.#laggingSince = undefined
  }

  isTooSlow(now: number): boolean {
    const isStalled = this.#busySince !== undefined && now - this.#busySince > STALL_MS
    if (isStalled || this.#laggingSince === undefined || this.#waitsSince !== undefined) return isStalled
    return now - this.#laggingSince > MAX_LAG_MS
  }
}
