import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'

/** Runs a read when its turn has come. */
export type EnqueueRead = <T>(read: () => Promise<T>) => Promise<T>

/** How many reads are under way at once, where they do not block the event loop. */
const MAX_RUNNING = 2
/** The queue rests for this many times as long as its reads took: they take a third of the time at most. */
const REST_FACTOR = 2
/** A rest is not shorter than this; until then, what is due adds up. */
const MIN_REST_MS = 1
/** A rest is not longer than this: a read may have waited for a database that was away. */
const MAX_REST_MS = 100

/**
 * Builds a queue of reads of the database. SQLite answers in the main thread, so one read at most begins in each turn of
 * the event loop, and the queue rests in proportion to what its reads took. Requests of others are served meanwhile,
 * however many reads wait.
 * @param rest waits so many milliseconds
 */
export function createReadQueue(rest: (ms: number) => Promise<unknown> = delay): EnqueueRead {
  const waiting: (() => Promise<unknown>)[] = []
  let running = 0
  let isStarting = false
  let restDueMs = 0

  async function restWhenDue(): Promise<void> {
    if (restDueMs < MIN_REST_MS) return
    const restMs = Math.min(restDueMs, MAX_REST_MS)
    restDueMs = 0
    await rest(restMs)
  }

  async function run(read: () => Promise<unknown>): Promise<void> {
    running++
    const startedAt = performance.now()
    await read()
    restDueMs += (performance.now() - startedAt) * REST_FACTOR
    running--
    void start()
  }

  async function start(): Promise<void> {
    if (isStarting) return
    isStarting = true
    while (running < MAX_RUNNING && waiting.length > 0) {
      await nextTurn()
      await restWhenDue()
      const read = waiting.shift()
      if (read === undefined) break
      void run(read)
    }
    isStarting = false
  }

  return (read) =>
    new Promise((resolve, reject) => {
      waiting.push(() => read().then(resolve, reject))
      void start()
    })
}
