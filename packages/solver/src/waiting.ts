import type { Clock } from '../../protocol/src/clock.js'

/** @returns when the work has ended, or after that time @throws what the work throws by then */
export async function within(clock: Clock, ms: number, work: Promise<unknown>): Promise<void> {
  const over = new AbortController()
  const timeout = clock.sleep(ms, over.signal).catch(() => {})
  await Promise.race([work, timeout]).finally(() => over.abort())
}

/** @throws the reason of the signal when the work has not ended by then: what a market maker calls may never end */
export function beforeAbort<T>(signal: AbortSignal, work: T | Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    const unlink = () => signal.removeEventListener('abort', abort)
    Promise.resolve(work).then(resolve, reject).finally(unlink)
  })
}

/** @throws Error when the work has not ended by then, and what the work throws */
export function inTime<T>(clock: Clock, ms: number, who: string, work: Promise<T>): Promise<T> {
  const over = new AbortController()
  const late = clock.sleep(ms, over.signal).then(() => {
    throw new Error(`${who} has not answered within ${ms / 1000} s`)
  })
  return Promise.race([work, late]).finally(() => over.abort())
}
