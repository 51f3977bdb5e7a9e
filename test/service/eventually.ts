const POLL_MS = 20

/** Asks again until the answer is as wanted; the test's own time-out ends it otherwise. */
export async function eventually<T>(ask: () => Promise<T>, isWanted: (answer: T) => boolean): Promise<T> {
  for (;;) {
    const answer = await ask()
    if (isWanted(answer)) return answer
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}
