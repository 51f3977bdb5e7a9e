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
