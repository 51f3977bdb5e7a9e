/** Bounds calls: how many are under way, and how many begin in a second. No call waits for a place. */
export interface CallBudget {
  /**
   * Begins a call.
   * @param priority a call of low priority leaves half of the budget to others
   * @returns a function that ends it; undefined when the budget has no place for it
   */
  begin(priority: CallPriority): (() => void) | undefined
}

export type CallPriority = 'high' | 'low'

interface CallBudgetOptions {
  readonly maxUnderWay: number
  readonly maxPerSecond: number
  /** Milliseconds that never go back. */
  readonly clock: () => number
}

/** Builds a budget. A second that was not used allows no more calls in the next one. */
export function createCallBudget({ maxUnderWay, maxPerSecond, clock }: CallBudgetOptions): CallBudget {
  let underWay = 0
  let left = maxPerSecond
  let refilledAt = clock()
  return {
    begin(priority) {
      const now = clock()
      left = Math.min(maxPerSecond, left + ((now - refilledAt) * maxPerSecond) / 1000)
      refilledAt = now
      const reserved = priority === 'high' ? 0 : 1 / 2
      if (underWay >= maxUnderWay * (1 - reserved) || left < 1 + maxPerSecond * reserved) return undefined
      left--
      underWay++
      let hasEnded = false
      return () => {
        if (!hasEnded) underWay--
        hasEnded = true
      }
    },
  }
}
