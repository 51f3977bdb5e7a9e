import { inspect } from 'node:util'

const POLL_MS = 20
const LONGEST_MS = 25_000

/**
 * Repeats `ask` until `isWanted` accepts its answer.
 * @param timeoutMs shorter than the test's own timeout, which would not report the last answer
 * @throws Error with the last answer when none was accepted in time
 */
export async function eventually<T>(
  ask: () => Promise<T>,
  isWanted: (answer: T) => boolean,
  timeoutMs = LONGEST_MS,
): Promise<T> {
  const end = performance.now() + timeoutMs
  for (;;) {
    const answer = await ask()
    if (isWanted(answer)) return answer
    if (performance.now() > end)
      throw new Error(`not as wanted after ${timeoutMs} ms, but ${inspect(answer, { depth: 4 })}`)
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}
