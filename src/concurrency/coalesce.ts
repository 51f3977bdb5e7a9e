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
