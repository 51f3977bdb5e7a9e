/**
 * Waits for a promise, but not for longer than a time in milliseconds.
 * @returns whether the promise has resolved in time
 * @throws what the promise does until then
 */
export async function withTimeout(promise: Promise<void>, timeoutMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), timeoutMs)
  })
  return Promise.race([promise.then(() => true), timeout]).finally(() => clearTimeout(timer))
}
