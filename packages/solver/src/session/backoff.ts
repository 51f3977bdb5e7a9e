const FIRST_LIMIT_MS = 100
const LAST_LIMIT_MS = 30_000

/**
 * Builds the times between attempts to connect, a back-off with full jitter: a random part of 100 ms at first, of 30 s at last. Each is
 * random, so that many solvers do not come at once.
 * @param random gives numbers of 0 to 1
 */
export function createBackoff(random: () => number) {
  let limitMs = FIRST_LIMIT_MS
  return {
    /** The time before the next attempt, in milliseconds. Its limit doubles with each call. */
    next(): number {
      const delayMs = random() * limitMs
      limitMs = Math.min(2 * limitMs, LAST_LIMIT_MS)
      return delayMs
    },
    /** The next time is a first one again. */
    reset(): void {
      limitMs = FIRST_LIMIT_MS
    },
  }
}
