import type { Clock, Timer } from '../../packages/protocol/src/clock.js'
import { coalesce } from './one-at-a-time.js'

/** Repeats work until it succeeds. */
export type Retry = ReturnType<typeof createRetry>

interface RetryOptions {
  readonly work: () => Promise<void>
  /** Milliseconds between a failed run and the next one; a second by default. A call of `run` does not wait for them. */
  readonly delayMs?: number
  /** When given, the delay doubles with each failure in a row, up to this. */
  readonly maxDelayMs?: number
  /** Called with the first failure in a row. */
  readonly onFailure?: (error: unknown) => void
  /** Called with the first success after a failure. */
  readonly onRecovery?: () => void
  readonly clock: Clock
}

/** Between a failed run and the next one, where nothing says otherwise. */
export const RETRY_MS = 1000

/** Builds the retry of a piece of work. */
export function createRetry(options: RetryOptions) {
  const { work, delayMs = RETRY_MS, maxDelayMs = delayMs, onFailure, onRecovery, clock } = options
  let timer: Timer | undefined
  let running: Promise<void> = Promise.resolve()
  let failures = 0
  let isClosed = false

  const runOnce = coalesce(async () => {
    if (isClosed) return
    timer?.stop()
    try {
      await work()
      if (failures > 0 && !isClosed) onRecovery?.()
      failures = 0
    } catch (error) {
      if (isClosed) return
      if (failures === 0) onFailure?.(error)
      timer?.stop()
      timer = clock.setTimeout(run, Math.min(delayMs * 2 ** failures, maxDelayMs))
      failures++
    }
  })

  function run(): void {
    running = runOnce()
  }

  return {
    /** Runs the work, after a run that is under way. Does nothing after `close`. */
    run,
    /** Starts nothing any more. @returns after the current run has ended */
    async close(): Promise<void> {
      isClosed = true
      timer?.stop()
      await running
    },
  }
}
