import { setTimeout as delay } from 'node:timers/promises'
import { DAY_MS } from '../domain/time.js'
import type { EventStore } from '../store/event-store.js'
import type { Logger } from '../telemetry/log.js'

/** Removes entries that are older than the retention time, in the background. */
export interface Retention {
  /** Removes them now, and every ten minutes. @param onPruned called with the sequence after which the log begins */
  start(onPruned: (sequence: number) => void): void
  /** Stops, after the page of entries under way. */
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
/** Between two pages of entries, so that a long log does not keep others waiting. */
const PAUSE_MS = 10

/** Builds the retention of a log. It measures age from the last entry, so that a wrong clock removes nothing. */
export function createRetention({ store, eventRetentionDays, now, log }: RetentionOptions): Retention {
  let timer: NodeJS.Timeout | undefined
  let pruning: Promise<void> | undefined
  let isClosed = false

  async function pause(): Promise<boolean> {
    if (!isClosed) await delay(PAUSE_MS)
    return !isClosed
  }

  async function prune(): Promise<number> {
    const newestMs = Math.min(now(), (await store.lastEntryTime()) ?? 0)
    return store.prune(newestMs - eventRetentionDays * DAY_MS, pause)
  }

  return {
    start(onPruned) {
      const onFailed = (error: unknown) => log.error({ err: error }, 'old events could not be removed')
      const pruneUnlessUnderWay = () => {
        pruning ??= prune()
          .then(onPruned, onFailed)
          .then(() => {
            pruning = undefined
          })
      }
      pruneUnlessUnderWay()
      timer = setInterval(pruneUnlessUnderWay, PRUNE_INTERVAL_MS)
    },
    async close() {
      isClosed = true
      clearInterval(timer)
      await pruning
    },
  }
}
