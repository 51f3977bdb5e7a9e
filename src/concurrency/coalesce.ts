/**
 * Builds a function that runs work at most once at a time. A run begins after the call for it. All calls that come during
 * a run share the next one.
 * @returns a function whose promise has the result of the call's run
 */
export function coalesce(work: () => Promise<void>): () => Promise<void> {
  let current: Promise<void> | undefined
  let next: Promise<void> | undefined

  function start(): Promise<void> {
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
