import type { Clock } from '../../../src/clock.js'

const MOST_CALLS = 50
/** How often batches must fail of which a single call is answered. */
const STRIKES = 2
const GROWS_AFTER_MS = 10 * 60_000

/** How many calls a node takes in one batch, as far as its answers show (docs/decisions.md, D22). */
export interface BatchSize {
  /** At most so many calls go into the next batch; 1 for none. */
  current(): number
  /** Notes that each call of a batch was answered. */
  accepted(): void
  /** Notes that a batch of so many calls has failed and one of them was answered alone. */
  refused(calls: number): void
  /** Whether the node takes batches. */
  takesBatches(): boolean
}

/** Builds the size: 50 calls at first, half of what was refused twice, twice as many after ten minutes. */
export function createBatchSize(clock: Pick<Clock, 'monotonic'>): BatchSize {
  let most = MOST_CALLS
  let changedAt = clock.monotonic()
  let strikes = 0

  function change(calls: number): void {
    most = Math.min(MOST_CALLS, Math.max(1, calls))
    changedAt = clock.monotonic()
    strikes = 0
  }

  function current(): number {
    if (most < MOST_CALLS && clock.monotonic() - changedAt >= GROWS_AFTER_MS) change(most * 2)
    return most
  }

  return {
    current,
    accepted() {
      strikes = 0
    },
    refused(calls) {
      strikes++
      if (strikes >= STRIKES) change(Math.min(most, Math.floor(calls / 2)))
    },
    takesBatches: () => current() > 1 && strikes === 0,
  }
}
