/** Waits for a promise, but not for longer than a time in milliseconds. @throws what the promise does until then */
export async function withTimeout(promise: Promise<void>, timeoutMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeoutMs)
  })
  await Promise.race([promise, timeout]).finally(() => clearTimeout(timer))
}
