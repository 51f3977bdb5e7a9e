import { setImmediate as nextTurn } from 'node:timers/promises'

/** Runs a read when its turn has come. */
export type EnqueueRead = <T>(read: () => Promise<T>) => Promise<T>

/** Reads at once, where they do not block the event loop. */
const MAX_RUNNING = 2

/**
 * Builds a queue of reads of the database. One read begins in each turn of the event loop, as SQLite answers in the main
 * thread: whatever the number of reads, everything else gets a turn between two of them.
 */
export function createReadQueue(): EnqueueRead {
  const waiting: (() => Promise<unknown>)[] = []
  let running = 0
  let isStarting = false

  async function start(): Promise<void> {
    if (isStarting) return
    isStarting = true
    while (running < MAX_RUNNING && waiting.length > 0) {
      await nextTurn()
      const read = waiting.shift()
      if (read === undefined) break
      running++
      void read().finally(() => {
        running--
        void start()
      })
    }
    isStarting = false
  }

  return (read) =>
    new Promise((resolve, reject) => {
      waiting.push(() => read().then(resolve, reject))
      void start()
    })
}
