import { setTimeout as delay } from 'node:timers/promises'

const CHECK_MS = 50

/**
 * Waits until a condition holds, which is checked from time to time.
 * @returns whether it holds; false after `ms`, or when the signal is aborted
 */
export async function waitUntil(condition: () => boolean, ms: number, signal: AbortSignal): Promise<boolean> {
  const end = performance.now() + ms
  while (!condition() && performance.now() < end && !signal.aborted)
    await delay(CHECK_MS, undefined, { signal }).catch(() => {})
  return condition()
}
