import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Clock, systemClock } from '../../packages/protocol/src/clock.js'

/** Runs a read when its turn has come. */
export type EnqueueRead = <T>(read: () => Promise<T>) => Promise<T>

/** Number of reads at once, when they do not block the event loop. */
const MAX_RUNNING = 2
/** The queue rests for this multiple of the time that its reads took, so that they take at most a third of it. */
const REST_FACTOR = 2
/** Shortest rest. Shorter ones are added up until then. */
const MIN_REST_MS = 1
/** Longest rest. A read may have taken long because the database was unavailable. */
const MAX_REST_MS = 100

/**
 * Builds a queue of database reads. SQLite reads in the main thread. So at most one read begins in each turn of the event
 * loop, and the queue rests in proportion to the time that its reads took. Other requests are served meanwhile, however
 * many reads wait.
 */
export function createReadQueue(clock: Clock = systemClock): EnqueueRead {
  const waiting: (() => Promise<unknown>)[] = []
  let running = 0
  let isStarting = false
  let restDueMs = 0

  async function restWhenDue(): Promise<void> {
    if (restDueMs < MIN_REST_MS) return
    const restMs = Math.min(restDueMs, MAX_REST_MS)
    restDueMs = 0
    await clock.sleep(restMs)
  }

  async function run(read: () => Promise<unknown>): Promise<void> {
    running++
    const startedAt = clock.monotonic()
    await read()
    restDueMs += (clock.monotonic() - startedAt) * REST_FACTOR
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
