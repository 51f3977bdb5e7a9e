import type { Clock } from '../../../src/clock.js'

/** @returns when the work has ended, or after that time @throws what the work throws by then */
export async function within(clock: Clock, ms: number, work: Promise<unknown>): Promise<void> {
  const over = new AbortController()
  const timeout = clock.sleep(ms, over.signal).catch(() => {})
  await Promise.race([work, timeout]).finally(() => over.abort())
}
