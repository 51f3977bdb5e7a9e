/** The last time of each of the newest keys. Of more than `most`, the one that was set longest ago goes first. */
export class RecentTimes {
  readonly #most: number
  readonly #times = new Map<string, number>()

  constructor(most: number) {
    this.#most = most
  }

  get size(): number {
    return this.#times.size
  }

  has(key: string): boolean {
    return this.#times.has(key)
  }

  /** Minus infinity for a key without a time. */
  of(key: string): number {
    return this.#times.get(key) ?? Number.NEGATIVE_INFINITY
  }

  /** @param now not before the last time of any key */
  set(key: string, now: number): void {
    this.#times.delete(key)
    this.#times.set(key, now)
    for (const oldest of this.#times.keys()) {
      if (this.#times.size <= this.#most) return
      this.#times.delete(oldest)
    }
  }

  forgetBefore(time: number): void {
    for (const [key, at] of this.#times) {
      if (at >= time) return
      this.#times.delete(key)
    }
  }
}
