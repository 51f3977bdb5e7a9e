/**
 * The solvers that are asked for one quote: a solver is slow beside them only. Were it slow by the clock, a pause of
 * this process would make all of them look stalled.
 */
export class Peers {
  readonly #enough: number
  #answers = 0
  #answeredAt: number | undefined

  /** @param size how many are asked */
  constructor(size: number) {
    this.#enough = Math.max(1, Math.ceil((size - 1) / 2))
  }

  /** When as many had answered as are half of any solver's peers; undefined until then. */
  get answeredAt(): number | undefined {
    return this.#answeredAt
  }

  /** Notes that one of them has answered. */
  noteAnswer(now: number): void {
    if (++this.#answers === this.#enough) this.#answeredAt = now
  }
}
