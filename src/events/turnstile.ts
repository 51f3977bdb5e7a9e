import { setImmediate as nextTurn } from 'node:timers/promises'

/** @returns undefined when the caller may go on at once; else a promise of its turn */
export type Turnstile = () => Promise<void> | undefined

/**
 * Lets so many callers go on in each turn of the event loop, in the order in which they came. What thousands of
 * subscribers do at the same moment leaves room for everything else that way.
 */
export function createTurnstile(perTurn: number): Turnstile {
  const waiting: (() => void)[] = []
  let left = perTurn
  let isCounting = false

  /** Runs for as long as somebody has gone on in the last turn. */
  async function count(): Promise<void> {
    isCounting = true
    while (left < perTurn) {
      await nextTurn()
      const next = waiting.splice(0, perTurn)
      left = perTurn - next.length
      for (const resolve of next) resolve()
    }
    isCounting = false
  }

  return () => {
    if (left > 0) {
      left--
      if (!isCounting) void count()
      return undefined
    }
    return new Promise((resolve) => waiting.push(resolve))
  }
}
