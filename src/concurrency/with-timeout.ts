/** A promise took longer than its caller waits. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError'
}

/**
 * Waits for a promise, for at most a number of milliseconds. The work itself continues after that time.
 * @throws TimeoutError after that time; before it, the promise's own error
 */
export function withTimeout<T>(promise: Promise<T>, timeoutMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new TimeoutError(`no answer within ${timeoutMs} ms`)), timeoutMs)
    promise.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
