/** What waits. What risks most comes first, so that many small orders cannot make a large one late. */
export interface Urgency {
  /** What is lost when it is late, in units of the bond token. */
  readonly bond: bigint
  /** Unix time in seconds. */
  readonly deadline: number
}

interface Waiter {
  readonly urgency: Urgency
  readonly start: () => void
}

/** Limits how much runs at once. Of those that risk the same, the nearest deadline comes first. */
export function createSlots(limit: number) {
  const waiters: Waiter[] = []
  let used = 0

  /** Runs at once, and counts. */
  async function runNow<T>(work: () => Promise<T>): Promise<T> {
    used++
    try {
      return await work()
    } finally {
      used--
      if (used < limit) takeNext()?.start()
    }
  }

  function takeNext(): Waiter | undefined {
    waiters.sort(({ urgency: one }, { urgency: other }) =>
      one.bond === other.bond ? one.deadline - other.deadline : one.bond > other.bond ? -1 : 1,
    )
    return waiters.shift()
  }

  return {
    runNow,
    run<T>(urgency: Urgency, work: () => Promise<T>): Promise<T> {
      if (used < limit) return runNow(work)
      return new Promise((resolve) => {
        waiters.push({ urgency, start: () => resolve(runNow(work)) })
      })
    },
  }
}
