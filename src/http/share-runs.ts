import { setTimeout as sleep } from 'node:timers/promises'

/** A pause is this many times as long as the run before it, so that runs take at most a fifth of the time. */
const PAUSE_FACTOR = 4
const MAX_PAUSE_MS = 1000

/**
 * Lets calls of an expensive action share its runs. A call shares the next run that begins, never one that has begun, so
 * that its result is not older than the call. A run waits until the pause after the last one has passed.
 */
export function shareRuns<T>(action: () => Promise<T>): () => Promise<T> {
  let next: Promise<T> | undefined
  let last: Promise<unknown> = Promise.resolve()
  let lastEndedAt = 0
  let pauseMs = 0

  async function run(): Promise<T> {
    await last
    const waitMs = lastEndedAt + pauseMs - performance.now()
    if (waitMs > 0) await sleep(waitMs)
    const startedAt = performance.now()
    next = undefined
    try {
      return await action()
    } finally {
      lastEndedAt = performance.now()
      pauseMs = Math.min(PAUSE_FACTOR * (lastEndedAt - startedAt), MAX_PAUSE_MS)
    }
  }

  return () => {
    if (next !== undefined) return next
    const mine = run()
    next = mine
    last = mine.catch(() => {})
    return mine
  }
}
