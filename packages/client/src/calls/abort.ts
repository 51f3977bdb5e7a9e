/**
 * Aborts a controller when a signal does. `AbortSignal.any` would keep an entry on a long-lived signal for each call.
 * @returns removes the listener
 */
export function linkSignal(
  signal: AbortSignal | undefined,
  controller: Pick<AbortController, 'abort'>,
): () => void {
  const abort = () => controller.abort(signal?.reason)
  if (signal?.aborted) abort()
  signal?.addEventListener('abort', abort)
  return () => signal?.removeEventListener('abort', abort)
}

/** Waits for work, but not after a signal has aborted: then it rejects with the reason of the signal. */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  return new Promise((resolve, reject) => {
    const unlink = linkSignal(signal, { abort: reject })
    work.then(resolve, reject).finally(unlink)
  })
}

/**
 * Makes an iterator of a generator, whose `return` ends a pending `next` at once. The `return` of a generator waits for it.
 * @param run begins with the first `next`, and ends when its controller aborts
 */
export function untilReturned<T>(
  run: (ending: AbortController) => AsyncGenerator<T, void, void>,
): AsyncIterableIterator<T> {
  const ending = new AbortController()
  const items = run(ending)
  return {
    next: () => items.next(),
    return() {
      ending.abort()
      return items.return()
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}
