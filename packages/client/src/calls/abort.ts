import { checkOptions } from './check-arguments.js'

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
 * @param options their `signal` ends the generator too. They are checked with the first `next`
 * @param run begins with the first `next`, and ends when its controller aborts
 * @throws AggregatorError INVALID_ARGUMENT for bad options
 */
export function untilReturned<T>(
  options: { readonly signal?: AbortSignal | undefined },
  run: (ending: AbortController) => AsyncGenerator<T, void, void>,
): AsyncIterableIterator<T> {
  const ending = new AbortController()
  const items = (async function* () {
    checkOptions(options)
    const unlink = linkSignal(options.signal, ending)
    try {
      yield* run(ending)
    } finally {
      unlink()
      ending.abort()
    }
  })()
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
