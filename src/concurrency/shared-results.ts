import { LRUCache } from 'lru-cache'
import type { Clock } from '../../packages/protocol/src/clock.js'

interface Shared<T> {
  readonly result: Promise<T>
  /** Infinite while it is under way. */
  until: number
}

/**
 * Builds a memory of results that equal calls share: from the call on, and for some time after its end. Failures are shared only while
 * they are under way.
 * @param max results in memory; the newest take the place of others
 * @param keepMs how long a result is shared after its end
 */
export function createSharedResults<T>(
  max: number,
  { monotonic }: Pick<Clock, 'monotonic'>,
  keepMs: (result: T) => number,
) {
  const kept = new LRUCache<string | number, Shared<T>>({ max })

  /** @returns undefined when there is none to share */
  function find(key: string | number): Shared<T> | undefined {
    const known = kept.get(key)
    return known !== undefined && monotonic() < known.until ? known : undefined
  }

  function get(key: string | number, read: () => Promise<T>): Promise<T> {
    const known = find(key)
    if (known !== undefined) return known.result
    const shared = { result: read(), until: Number.POSITIVE_INFINITY }
    kept.set(key, shared)
    shared.result.then(
      (result) => {
        shared.until = monotonic() + keepMs(result)
      },
      () => {
        shared.until = 0
      },
    )
    return shared.result
  }

  return {
    find,
    /** @param read is called when there is no result to share */
    get,
    /** @returns after all that are under way have ended, successful or not */
    async idle(): Promise<void> {
      await Promise.allSettled([...kept.values()].map(({ result }) => result))
    },
  }
}
