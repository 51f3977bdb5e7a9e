/** Runs pieces of work with the same key one after the other, in the order of the calls. */
export interface KeyedQueue<K> {
  /** Runs work after all earlier work of the key has ended, successful or not. @returns the result of the work */
  run<T>(key: K, work: () => Promise<T>): Promise<T>
  /** @returns after all current work has ended */
  idle(): Promise<void>
}

/** Builds an empty queue. It keeps nothing of keys without work. */
export function createKeyedQueue<K>(): KeyedQueue<K> {
  const lasts = new Map<K, Promise<void>>()
  return {
    run(key, work) {
      const result = Promise.resolve(lasts.get(key)).then(work)
      const forget = () => {
        if (lasts.get(key) === last) lasts.delete(key)
      }
      const last = result.then(forget, forget)
      lasts.set(key, last)
      return result
    },
    async idle() {
      await Promise.all(lasts.values())
    },
  }
}
