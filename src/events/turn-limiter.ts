import { setImmediate as nextTurn } from 'node:timers/promises'

/** @returns undefined when the caller may continue at once; otherwise a promise that resolves in its turn */
export type TurnLimiter = () => Promise<void> | undefined

/**
 * Lets a number of callers continue in each turn of the event loop, in the order of their calls. So thousands of
 * subscribers that work at the same moment leave time for everything else.
 */
export function createTurnLimiter(perTurn: number): TurnLimiter {
  const waiting: (() => void)[] = []
  let left = perTurn
  let isCounting = false

  /** Runs as long as a caller has continued in the last turn. */
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
