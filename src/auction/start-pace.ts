/** The time over which the pace is averaged, so that one slow turn changes it little. */
const AVERAGED_MS = 1000
/** A longer turn counts as one of this length: the process may have been stopped meanwhile. */
const LONGEST_TURN_MS = 200
/** Until there is a queue. */
const USUAL_MS_PER_START = 1

/** How fast work starts while other work waits. What else the process does slows it down. */
export class StartPace {
  #started = AVERAGED_MS / USUAL_MS_PER_START
  #tookMs = AVERAGED_MS

  /** Adds a turn. */
  add(started: number, turnMs: number): void {
    const tookMs = Math.min(turnMs, LONGEST_TURN_MS)
    const kept = Math.exp(-tookMs / AVERAGED_MS)
    this.#started = this.#started * kept + started
    this.#tookMs = this.#tookMs * kept + tookMs
  }

  /** Forgets in a time without a queue, in which nothing was measured. An old pace must not keep the queue too short to measure. */
  forget(ms: number): void {
    const kept = Math.exp(-ms / AVERAGED_MS)
    this.#started = this.#started * kept + (1 - kept) * (AVERAGED_MS / USUAL_MS_PER_START)
    this.#tookMs = this.#tookMs * kept + (1 - kept) * AVERAGED_MS
  }

  get msPerStart(): number {
    return this.#tookMs / Math.max(1, this.#started)
  }
}
