import type { Clock, Timer } from '../../../protocol/src/clock.js'

/** Where a request came in. */
export type AnswerSource = 'SESSION' | 'ENDPOINT'

/** Bounds the answers, so that payments and the reads of blocks have their turn of the event loop (docs/decisions.md, D32). */
export type AnswerBudget = ReturnType<typeof createAnswerBudget>

const TICK_MS = 50
/** A timer that is later than this means that answers take too much of the loop. */
const LATE_MS = 50
/** So many answers of a tick are always allowed: a machine may be busy with other work. */
const LEAST = 16
/** Above this, nothing is bounded: no machine signs as many in a tick. */
const MOST = 1_000

/**
 * Builds the budget. It has no limit until a timer is late. Then each tick allows half of what the last one took, and grows again while
 * timers are in time. The endpoint, which strangers may reach, has at most half of it.
 */
export function createAnswerBudget(clock: Clock) {
  let limit = MOST
  let used = { SESSION: 0, ENDPOINT: 0 }
  let timer: Timer | undefined

  function tick(due: number): void {
    const total = used.SESSION + used.ENDPOINT
    const isLate = clock.monotonic() - due > LATE_MS
    limit = isLate ? Math.max(LEAST, Math.min(limit, total) / 2) : Math.min(MOST, limit * 1.25)
    used = { SESSION: 0, ENDPOINT: 0 }
    timer = undefined
    if (total > 0 || limit < MOST) start()
  }

  function start(): void {
    const due = clock.monotonic() + TICK_MS
    timer = clock.setTimeout(() => tick(due), TICK_MS).unref()
  }

  return {
    /** @returns whether a request may be answered now; otherwise it is to be declined at once */
    take(source: AnswerSource): boolean {
      if (timer === undefined) start()
      const left = limit - used.SESSION - used.ENDPOINT
      if (limit < MOST && (left < 1 || (source === 'ENDPOINT' && used.ENDPOINT >= limit / 2))) return false
      used[source]++
      return true
    },
  }
}
