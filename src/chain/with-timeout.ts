/**
 * Waits for a promise, for at most a number of milliseconds.
 * @returns whether the promise resolved in this time
 * @throws the promise's error until then
 */
export async function withTimeout(promise: Promise<void>, timeoutMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), timeoutMs)
  })
  return Promise.race([promise.then(() => true), timeout]).finally(() => clearTimeout(timer))
}
