/**
 * Builds a function that runs work at most once at a time. A run begins after the call for it. All calls that come during
 * a run share the next one.
 * @returns a function whose promise has the result of the call's run
 */
export function coalesce<T>(work: () => Promise<T>): () => Promise<T> {
  let current: Promise<T> | undefined
  let next: Promise<T> | undefined

  function start(): Promise<T> {
    const run = work().finally(() => {
      if (current === run) current = undefined
    })
    current = run
    return run
  }

  return () => {
    if (current === undefined && next === undefined) return start()
    next ??= Promise.resolve(current)
      .catch(() => {})
      .then(() => {
        next = undefined
        return start()
      })
    return next
  }
}

/** Runs pieces of work one after the other, in the order of the calls. Work with different keys runs at the same time. */
export type SerialQueue = ReturnType<typeof createSerialQueue>

/** Builds an empty queue. It keeps nothing of keys without work. */
export function createSerialQueue() {
  const lasts = new Map<string, Promise<void>>()
  return {
    /** Runs work after all earlier work of its key has ended, successful or not. @returns the result of the work */
    run<T>(work: () => Promise<T> | T, key = ''): Promise<T> {
      const result = Promise.resolve(lasts.get(key)).then(work)
      const forget = () => {
        if (lasts.get(key) === last) lasts.delete(key)
      }
      const last = result.then(forget, forget)
      lasts.set(key, last)
      return result
    },
    /** @returns after all current work has ended */
    async idle(): Promise<void> {
      await Promise.all(lasts.values())
    },
  }
}
