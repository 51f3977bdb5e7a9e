import type { Clock } from '../../protocol/src/clock.js'

/** @returns when the work has ended, or after that time @throws what the work throws by then */
export async function within(clock: Clock, ms: number, work: Promise<unknown>): Promise<void> {
  const over = new AbortController()
  const timeout = clock.sleep(ms, over.signal).catch(() => {})
  await Promise.race([work, timeout]).finally(() => over.abort())
}

/** @throws Error when the work has not ended by then, and what the work throws */
export function inTime<T>(clock: Clock, ms: number, who: string, work: Promise<T>): Promise<T> {
  const over = new AbortController()
  const late = clock.sleep(ms, over.signal).then(() => {
    throw new Error(`${who} has not answered within ${ms / 1000} s`)
  })
  return Promise.race([work, late]).finally(() => over.abort())
}
