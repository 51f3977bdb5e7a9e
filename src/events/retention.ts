import { DAY_MS } from '../domain/time.js'
import type { EventStore } from '../store/event-store.js'
import type { Logger } from '../telemetry/log.js'

/** Removes entries that are older than the retention time. */
export interface Retention {
  /** Removes them now. @returns the sequence after which the log begins */
  prune(): Promise<number>
  /** Removes them every ten minutes from now on. @param onPruned called with the sequence after which the log begins */
  start(onPruned: (sequence: number) => void): void
  /** Stops, after a removal under way. */
  close(): Promise<void>
}

interface RetentionOptions {
  readonly store: Pick<EventStore, 'prune' | 'lastEntryTime'>
  readonly eventRetentionDays: number
  /** The clock: Unix time in milliseconds. */
  readonly now: () => number
  readonly log: Logger
}

const PRUNE_INTERVAL_MS = 10 * 60_000

/** Builds the retention of a log. It measures age from the last entry, so that a wrong clock removes nothing. */
export function createRetention({ store, eventRetentionDays, now, log }: RetentionOptions): Retention {
  let timer: NodeJS.Timeout | undefined
  let pruning: Promise<void> = Promise.resolve()

  async function prune(): Promise<number> {
    const newestMs = Math.min(now(), (await store.lastEntryTime()) ?? 0)
    return store.prune(newestMs - eventRetentionDays * DAY_MS)
  }

  return {
    prune,
    start(onPruned) {
      timer = setInterval(() => {
        pruning = prune().then(onPruned, (error) => {
          log.error({ err: error }, 'old events could not be removed')
        })
      }, PRUNE_INTERVAL_MS)
    },
    async close() {
      clearInterval(timer)
      await pruning
    },
  }
}
