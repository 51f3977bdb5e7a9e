/** The times between attempts to connect: each is random, so that many solvers do not come at once. */
export interface Backoff {
  /** The time before the next attempt, in milliseconds. Its limit doubles with each call. */
  next(): number
  /** The next time is a first one again. */
  reset(): void
}

const FIRST_LIMIT_MS = 100
const LAST_LIMIT_MS = 30_000

/**
 * Builds a back-off with full jitter: a random part of 100 ms at first, of 30 s at last.
 * @param random gives numbers of 0 to 1
 */
export function createBackoff(random: () => number): Backoff {
  let limitMs = FIRST_LIMIT_MS
  return {
    next() {
      const delayMs = random() * limitMs
      limitMs = Math.min(2 * limitMs, LAST_LIMIT_MS)
      return delayMs
    },
    reset() {
      limitMs = FIRST_LIMIT_MS
    },
  }
}
