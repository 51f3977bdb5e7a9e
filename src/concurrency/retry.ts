import { coalesce } from './coalesce.js'

/** Repeats work until it succeeds. */
export interface Retry {
  /** Runs the work, after a run that is under way. Does nothing after `close`. */
  run(): void
  /** Starts nothing any more. @returns after the current run has ended */
  close(): Promise<void>
}

interface RetryOptions {
  readonly work: () => Promise<void>
  /** Milliseconds between a failed run and the next one. A call of `run` does not wait for them. */
  readonly delayMs: number
  /** Called with the first failure in a row. */
  readonly onFailure?: (error: unknown) => void
  /** Called with the first success after a failure. */
  readonly onRecovery?: () => void
}

/** Builds the retry of a piece of work. */
export function createRetry({ work, delayMs, onFailure, onRecovery }: RetryOptions): Retry {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()
  let isFailing = false
  let isClosed = false

  const runOnce = coalesce(async () => {
    if (isClosed) return
    clearTimeout(timer)
    try {
      await work()
      if (isFailing && !isClosed) onRecovery?.()
      isFailing = false
    } catch (error) {
      if (isClosed) return
      if (!isFailing) onFailure?.(error)
      isFailing = true
      clearTimeout(timer)
      timer = setTimeout(run, delayMs)
    }
  })

  function run(): void {
    running = runOnce()
  }

  return {
    run,
    async close() {
      isClosed = true
      clearTimeout(timer)
      await running
    },
  }
}
