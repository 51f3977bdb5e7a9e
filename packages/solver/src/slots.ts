/** Limits how much runs at once. The nearest deadline comes first. */
export interface Slots {
  /**
   * @param deadline Unix time in seconds
   * @param work gets whether it had to wait
   */
  run<T>(deadline: number, work: (hasWaited: boolean) => Promise<T>): Promise<T>
  /** Runs at once, and counts. */
  runNow<T>(work: () => Promise<T>): Promise<T>
}

interface Waiter {
  readonly deadline: number
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
    let nearest = 0
    for (const [index, { deadline }] of waiters.entries())
      if (deadline < (waiters[nearest]?.deadline ?? 0)) nearest = index
    return waiters.splice(nearest, 1)[0]
  }

  return {
    runNow,
    run(deadline, work) {
      if (used < limit) return runNow(() => work(false))
      return new Promise((resolve) => {
        waiters.push({ deadline, start: () => resolve(runNow(() => work(true))) })
      })
    },
  }
}
