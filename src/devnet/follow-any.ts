import { setTimeout as delay } from 'node:timers/promises'

interface FollowAnyOptions {
  /** Base URLs of the replicas, which all serve the same. */
  readonly urls: readonly string[]
  /** Follows at one of them, and calls `onOpen` when it is open. Returns or throws when that one is lost. */
  readonly follow: (url: string, signal: AbortSignal, onOpen: () => void) => Promise<void>
  /** Called with the last error when all have failed in a row. */
  readonly onError: (error: unknown) => void
}

const COME_BACK_MS = 500

/**
 * Follows something at the first replica, and at the next one after each loss.
 * @returns, when it is open, a function that ends it
 */
export async function followAny(options: FollowAnyOptions): Promise<() => Promise<void>> {
  const { urls, follow, onError } = options
  const closing = new AbortController()
  const { signal } = closing

  async function keepFollowing(onFirstOpen: () => void): Promise<void> {
    let failures = 0
    const onOpen = () => {
      failures = 0
      onFirstOpen()
    }
    for (const url of roundAndRound(urls)) {
      const failure = await follow(url, signal, onOpen).catch((error) => ({ error }))
      if (signal.aborted) return
      if (++failures % urls.length > 0) continue
      if (failure) onError(failure.error)
      await delay(COME_BACK_MS, undefined, { signal }).catch(() => {})
      if (signal.aborted) return
    }
  }

  let ended: Promise<void> = Promise.resolve()
  await new Promise<void>((resolve) => {
    ended = keepFollowing(resolve)
  })
  return async () => {
    closing.abort()
    await ended
  }
}

function* roundAndRound<T>(items: readonly T[]): Generator<T> {
  while (true) yield* items
}
