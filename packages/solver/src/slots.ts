/** What waits. Orders at the contract come first: they have a bond reserved, and their number is bounded by it. */
export interface Urgency {
  readonly deposit: 'CONTRACT' | 'ADDRESS'
  /** Unix time in seconds. */
  readonly deadline: number
}

/** Limits how much runs at once. Of those with the same kind of deposit, the nearest deadline comes first. */
export interface Slots {
  /**
   * @param work gets whether it had to wait
   */
  run<T>(urgency: Urgency, work: (hasWaited: boolean) => Promise<T>): Promise<T>
  /** Runs at once, and counts. */
  runNow<T>(work: () => Promise<T>): Promise<T>
}

interface Waiter {
  readonly urgency: Urgency
  readonly start: () => void
}

/** Builds slots for `limit` works. */
export function createSlots(limit: number): Slots {
  const waiters: Waiter[] = []
  let used = 0

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
    run(urgency, work) {
      if (used < limit) return runNow(() => work(false))
      return new Promise((resolve) => {
        waiters.push({ urgency, start: () => resolve(runNow(() => work(true))) })
      })
    },
  }
}
