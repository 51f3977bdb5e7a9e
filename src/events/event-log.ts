import type { BlockHeader, ChainPosition, NewBlocks } from '../domain/block.js'
import type { Announcement, EventFilter } from '../domain/event.js'
import type { Address } from '../domain/hex.js'
import type { EventStore } from '../store/event-store.js'
import type { Logger } from '../telemetry/log.js'
import type { Metrics } from '../telemetry/metrics.js'
import { createCursors } from './cursor.js'
import { createHub, type Subscription } from './hub.js'

/** The log of order events: the chains' watchers write it, subscribers follow it. */
export interface EventLog {
  readPosition(chainId: number): Promise<ChainPosition | undefined>
  begin(chainId: number, settlement: Address, header: BlockHeader): Promise<void>
  /** Adds blocks; once that is committed, tells subscribers. */
  append(chainId: number, blocks: NewBlocks): Promise<void>
  /** Takes back all events of a chain behind a block; once that is committed, tells subscribers. */
  revert(chainId: number, ancestor: BlockHeader): Promise<void>
  /**
   * @param after a cursor; only what comes from now on when undefined
   * @throws ServiceError CURSOR_UNKNOWN or STREAM_LIMIT_REACHED
   */
  subscribe(after: string | undefined, filter: EventFilter): Subscription
  /** Ends all subscriptions, with their places kept by their cursors, and takes no new ones. */
  endSubscriptions(): void
  close(): Promise<void>
}

interface EventLogOptions {
  readonly store: EventStore
  readonly eventRetentionDays: number
  readonly maxStreamClients: number
  readonly metrics: Metrics
  readonly log: Logger
  /** The clock: Unix time in milliseconds. */
  readonly now: () => number
}

const DAY_MS = 86_400_000
const PRUNE_INTERVAL_MS = 10 * 60_000

/** Opens the log of a store, and keeps it from growing beyond its retention. */
export async function openEventLog(options: EventLogOptions): Promise<EventLog> {
  const { store, eventRetentionDays, maxStreamClients, metrics, log, now } = options
  const prune = () => store.prune(now() - eventRetentionDays * DAY_MS)
  await prune()
  const { logId, ...bounds } = await store.readState()
  const hub = createHub({
    ...bounds,
    cursors: createCursors(logId),
    readAfter: store.readAfter,
    maxSubscribers: maxStreamClients,
    onSlow: () => metrics.streamDrops.inc(),
  })

  /** The last write: one follows the other, so that subscribers are told in the order of the log. */
  let writing: Promise<unknown> = Promise.resolve()
  function write(entries: () => Promise<Announcement[]>): Promise<void> {
    const written = writing.then(async () => {
      const announcements = await entries()
      hub.publish(announcements)
      for (const { event } of announcements) {
        metrics.events.inc({ chain_id: event.chainId, type: event.type })
      }
    })
    writing = written.catch(() => {})
    return written
  }

  let pruning: Promise<void> = Promise.resolve()
  const timer = setInterval(() => {
    pruning = prune().then(hub.forgetThrough, (error) => {
      log.error({ err: error }, 'old events could not be removed')
    })
  }, PRUNE_INTERVAL_MS)

  return {
    readPosition: store.readPosition,
    begin: store.begin,
    append: (chainId, blocks) => write(() => store.append(chainId, blocks)),
    revert: (chainId, ancestor) => write(() => store.revert(chainId, ancestor)),
    subscribe: hub.subscribe,
    endSubscriptions: hub.close,
    async close() {
      clearInterval(timer)
      hub.close()
      await Promise.all([writing, pruning])
    },
  }
}
