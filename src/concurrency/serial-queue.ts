/** Runs pieces of work one after the other, in the order of the calls. */
export interface SerialQueue {
  /** Runs work after all earlier work has ended, successful or not. @returns the result of the work */
  run<T>(work: () => Promise<T> | T): Promise<T>
  /** @returns after all current work has ended */
  idle(): Promise<void>
}

/** Builds an empty queue. */
export function createSerialQueue(): SerialQueue {
  let last: Promise<unknown> = Promise.resolve()
  return {
    run(work) {
      const result = last.then(work)
      last = result.catch(() => {})
      return result
    },
    async idle() {
      await last
    },
  }
}
