/** Waits for a promise, for at most a number of milliseconds. @throws the promise's error until then */
export async function withTimeout(promise: Promise<void>, timeoutMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeoutMs)
  })
  await Promise.race([promise, timeout]).finally(() => clearTimeout(timer))
}
