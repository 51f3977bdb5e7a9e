/** What waits. Orders at the contract come first: they have a bond reserved, and their number is bounded by it. */
export interface Urgency {
  readonly deposit: 'CONTRACT' | 'ADDRESS'
  /** Unix time in seconds. */
  readonly deadline: number
}

interface Waiter {
  readonly urgency: Urgency
  readonly start: () => void
}

/** Limits how much runs at once. Of those with the same kind of deposit, the nearest deadline comes first. */
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
      if (used < limit) takeNearest()?.start()
    }
  }

  function takeNearest(): Waiter | undefined {
    waiters.sort(({ urgency: one }, { urgency: other }) =>
      one.deposit === other.deposit ? one.deadline - other.deadline : one.deposit === 'CONTRACT' ? -1 : 1,
    )
    return waiters.shift()
  }

  return {
    runNow,
    /** @param work gets whether it had to wait */
    run<T>(urgency: Urgency, work: (hasWaited: boolean) => Promise<T>): Promise<T> {
      if (used < limit) return runNow(() => work(false))
      return new Promise((resolve) => {
        waiters.push({ urgency, start: () => resolve(runNow(() => work(true))) })
      })
    },
  }
}
