import { inspect } from 'node:util'
import { HANG_MS } from './hang.js'

const MIN_PAUSE_MS = 20
const MAX_PAUSE_MS = 200

/**
 * Repeats `ask` until `isWanted` accepts its answer. Pauses are as long as `ask` took, so that large
 * answers do not keep a core busy.
 * @param timeoutMs shorter than the test's own timeout, which would not report the last answer
 * @throws Error with the last answer when none was accepted in time
 */
export async function eventually<T>(
  ask: () => Promise<T>,
  isWanted: (answer: T) => boolean,
  timeoutMs = HANG_MS,
): Promise<T> {
  const end = performance.now() + timeoutMs
  for (;;) {
    const start = performance.now()
    const answer = await ask()
    if (isWanted(answer)) return answer
    const now = performance.now()
    if (now > end)
      throw new Error(`not as wanted after ${timeoutMs} ms, but ${inspect(answer, { depth: 4 })}`)
    const pauseMs = Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, now - start))
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}
