import { reasonOf } from '../../packages/protocol/src/errors.js'
import type { EventFilter, StreamEvent } from '../../packages/protocol/src/orders/event.js'
import { DAY_MS } from '../../packages/protocol/src/values/time.js'
import { createEventSink, type EventSink } from '../chain/event-sink.js'
import type { ClientId } from '../clients/client-id.js'
import type { InstanceContext } from '../cluster/instance.js'
import { createRetry } from '../concurrency/retry.js'
import { startRetention } from '../store/retention.js'
import { createHub } from './hub.js'
import { readEnd } from './published-log.js'
import { createPublisher } from './publisher.js'
import type { SubscriberOptions, Subscription } from './subscriber.js'
import { MAX_RECENT } from './tail-buffer.js'

/** The log of order events. Chain leaders write it, and subscribers read it. */
export interface EventLog {
  /** The event sink of a chain, for one chain sync. */
  eventSinkOf(chainId: number): EventSink
  /**
   * Waits for the database when `subscribe` needs it for a cursor: a cursor of another replica that is later than all
   * events published here, or one that no entry in memory confirms.
   * @param client the client whose turn the read takes
   * @returns undefined for every other cursor; otherwise a promise that throws ServiceError DATABASE_UNAVAILABLE
   */
  waitForCursor(cursor?: string, client?: ClientId): Promise<void> | undefined
  /**
   * @param after a cursor, or `EARLIEST`; undefined for events from now on
   * @throws ServiceError CURSOR_UNKNOWN or SHUTTING_DOWN
   */
  subscribe(after: string | undefined, filter: EventFilter, options?: SubscriberOptions): Subscription
  /** The number of reads of the log for subscribers, and the number that wait. */
  replays(): { readonly running: number; readonly waiting: number }
  /** Ends all subscriptions and accepts no new ones. Clients can continue with their cursors. */
  endSubscriptions(): void
  close(): Promise<void>
}

const PRUNE_INTERVAL_MS = 10 * 60_000

/**
 * Opens the log of an instance. From then on, entries older than the retention time are removed.
 * @param onEvent called with every event, whether this replica or another has written it, before any subscriber receives it. So an order
 *   is invalidated before subscribers hear of its event: what they read of it then is its state after the event. It may
 *   be called again with an event, and with earlier events, when the log has another history.
 * @param keptEntries entries at the end of the log that are read into memory at the start, for clients that reconnect after a restart
 */
export async function openEventLog(
  context: InstanceContext,
  onEvent: (event: StreamEvent) => void,
  keptEntries = MAX_RECENT,
): Promise<EventLog> {
  const { config, instance, metrics, clock, log } = context
  const { cluster } = instance
  const store = instance.stores.events
  const end = await readEnd(store, keptEntries)
  const hub = createHub({ ...end, store, onEvent, onSlow: () => metrics.streamDrops.inc(), clock })
  const publisher = createPublisher(context, hub, end.logId, keptEntries)
  const endRetention = startRetention({
    /** Measures age from the last entry at the latest, so that a wrong clock removes nothing. */
    async pruneSome() {
      const newestMs = Math.min(clock.now(), (await store.lastEntryTime()) ?? 0)
      const { prunedSequence, isMore } = await store.pruneSome(newestMs - config.eventRetentionDays * DAY_MS)
      hub.pruneThrough(prunedSequence)
      return isMore
    },
    what: 'events',
    intervalMs: PRUNE_INTERVAL_MS,
    clock,
    log,
  })

  const reading = createRetry({
    work: publisher.catchUp,
    onFailure: (error) =>
      log.warn({ reason: reasonOf(error) }, 'the events of other replicas could not be read'),
    onRecovery: () => log.info('what other replicas have written is read again'),
    clock,
  })
  cluster.listen('events', {
    // A lower number is an old message, or belongs to a log with another history.
    onMessage: (lastSequence) => Number(lastSequence) !== hub.lastSequence() && reading.run(),
    onMissed: reading.run,
  })
  // Reads the entries written between the read of the end and the first message.
  reading.run()

  return {
    eventSinkOf: (chainId) => createEventSink(chainId, store, publisher.write),
    waitForCursor(cursor = '', client) {
      if (!hub.isAhead(cursor)) return hub.confirm(cursor, client)
      return publisher.catchUp().then(() => hub.confirm(cursor, client))
    },
    subscribe: hub.subscribe,
    replays: hub.replays,
    endSubscriptions: hub.close,
    async close() {
      hub.close()
      await Promise.all([reading.close(), publisher.idle(), endRetention()])
    },
  }
}
