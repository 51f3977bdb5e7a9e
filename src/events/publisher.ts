import type { LogEntry } from '../../packages/protocol/src/orders/event.js'
import type { InstanceContext } from '../cluster/instance.js'
import { coalesce, createSerialQueue } from '../concurrency/one-at-a-time.js'
import type { Hub } from './hub.js'
import { readEnd } from './published-log.js'

const PAGE = 500

/**
 * Builds what publishes the entries of a log in their order, whichever replica has written them. Each read of the log includes the last
 * published entry again.
 * @param publishedLogId the id of the published log
 * @param keptEntries entries that are read into memory when the log has another history
 */
export function createPublisher(
  { instance, metrics, log }: InstanceContext,
  hub: Hub,
  publishedLogId: string,
  keptEntries: number,
) {
  const store = instance.stores.events
  const queue = createSerialQueue()
  let logId = publishedLogId

  async function readOn(): Promise<void> {
    if (hub.lastSequence() === 0 && (await store.readState()).logId !== logId) return startOver()
    for (;;) {
      const page = await store.readAfter(Math.max(0, hub.lastSequence() - 1), PAGE)
      const news = hub.newIn(page)
      if (news === undefined) return startOver()
      hub.publish(news)
      if (page.length < PAGE) return
    }
  }

  /** Continues with the database's log after a failover to a standby without the last entries, or a restored backup. */
  async function startOver(): Promise<void> {
    const end = await readEnd(store, keptEntries)
    const { lastSequence } = end
    const published = hub.lastSequence()
    const isOtherLog = end.logId !== logId
    metrics.eventLogReplacements.inc()
    log.error(
      { published, lastSequence, isOtherLog },
      'the event log in the database is not the one that was sent to subscribers: a backup was restored, or a standby without the last transactions took over. All event streams end with CURSOR_UNKNOWN. Events that were sent and that the log lacks may be sent again',
    )
    logId = end.logId
    hub.startOver(end)
  }

  return {
    /**
     * Writes entries and publishes them. Writes run one after the other.
     * @returns the entries that were written
     */
    write: (entries: () => Promise<LogEntry[]>): Promise<LogEntry[]> =>
      queue.run(async () => {
        const logEntries = await entries()
        const sequence = logEntries[0]?.sequence
        if (sequence === hub.lastSequence() + 1) hub.publish(logEntries)
        // Entries of other replicas come before them, or the log has another history.
        else if (sequence !== undefined) await readOn()
        for (const { event } of logEntries) metrics.events.inc({ chain_id: event.chainId, type: event.type })
        return logEntries
      }),
    /** Publishes the entries of the log that are not published yet. */
    catchUp: coalesce(() => queue.run(readOn)),
    /** @returns after all current work has ended */
    idle: queue.idle,
  }
}
