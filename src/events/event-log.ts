import type { ClientId } from '../domain/client.js'
import type { ClusterBus } from '../domain/cluster.js'
import { reasonOf } from '../domain/errors.js'
import type { LogEntry, StreamEvent } from '../domain/event.js'
import type { EventSink } from '../domain/event-sink.js'
import type { EventStore } from '../store/event-store.js'
import type { FencingToken } from '../store/fencing-token.js'
import type { Logger } from '../telemetry/log.js'
import type { Metrics } from '../telemetry/metrics.js'
import { createHub, type Hub, type LogEnd } from './hub.js'
import { createPublisher } from './publisher.js'
import { MAX_RECENT } from './tail-buffer.js'

/** The log of order events. Chain leaders write it, and subscribers read it. */
export interface EventLog {
  /** The event sink of a chain, for one chain sync. */
  eventSinkOf(chainId: number): EventSink
  /** Calls `listener` with each event that another replica has published, before subscribers receive it. */
  onRemoteEvent(listener: (event: StreamEvent) => void): void
  /**
   * Waits for the database when `subscribe` needs it for a cursor: a cursor of another replica that is later than all
   * events published here, or one that no entry in memory confirms.
   * @returns undefined for every other cursor; otherwise a promise that throws ServiceError DATABASE_UNAVAILABLE
   */
  waitForCursor(cursor: string | undefined, client: ClientId): Promise<void> | undefined
  /**
   * @param after a cursor; undefined for events from now on
   * @throws ServiceError CURSOR_UNKNOWN or SHUTTING_DOWN
   */
  subscribe: Hub['subscribe']
  /** The number of subscribers that replay the log from the database, and the number that wait for it. */
  replays: Hub['replays']
  /** Ends all subscriptions and accepts no new ones. Clients can continue with their cursors. */
  endSubscriptions(): void
  close(): Promise<void>
}

interface EventLogOptions {
  readonly store: EventStore
  readonly cluster: Pick<ClusterBus, 'listen'>
  readonly eventRetentionDays: number
  /** Entries at the end of the log that are read into memory at the start, for clients that reconnect after a restart. */
  readonly keptEntries?: number
  readonly metrics: Metrics
  readonly log: Logger
  /** The clock: Unix time in milliseconds. */
  readonly now: () => number
}

const DAY_MS = 86_400_000
const PRUNE_INTERVAL_MS = 10 * 60_000
const RETRY_MS = 1000

/** Opens the log of a store and removes entries older than the retention time. */
export async function openEventLog(options: EventLogOptions): Promise<EventLog> {
  const { store, cluster, eventRetentionDays, keptEntries = MAX_RECENT, metrics, log, now } = options
  /** Measures age from the last entry, so that a wrong clock removes nothing. */
  async function prune(): Promise<number> {
    const newestMs = Math.min(now(), (await store.lastEntryTime()) ?? 0)
    return store.prune(newestMs - eventRetentionDays * DAY_MS)
  }
  await prune()
  const readEnd = async () => {
    const state = await store.readState()
    const entries = await store.readAfter(Math.max(0, state.lastSequence - keptEntries), keptEntries)
    return { ...state, recent: entries.filter(({ sequence }) => sequence <= state.lastSequence) }
  }
  let end: LogEnd = await readEnd()
  const hub = createHub({ ...end, reader: store, onSlow: () => metrics.streamDrops.inc() })
  let remoteListener: (event: StreamEvent) => void = () => {}
  const onRead = (logEntries: readonly LogEntry[]) => {
    for (const { event } of logEntries) remoteListener(event)
  }
  const publisher = createPublisher({
    hub,
    readAfter: store.readAfter,
    onRead,
    isOtherLog: async () => (await store.readState()).logId !== end.logId,
    onOtherHistory,
  })

  /** Continues with the database's log after a failover to a standby without the last entries, or a restored backup. */
  async function onOtherHistory(): Promise<void> {
    const found = await readEnd()
    const { logId, lastSequence, prunedSequence } = found
    const published = hub.lastSequence()
    // A version that kept no entry for cursors may have removed the last one. Then nothing shows another history.
    const isEmptied = found.recent.length === 0 && lastSequence === published && prunedSequence === published
    if (isEmptied && logId === end.logId) return
    metrics.eventLogReplacements.inc()
    log.error(
      { published, lastSequence, isOtherLog: logId !== end.logId },
      'the event log in the database is not the one that was sent to subscribers: a backup was restored, or a standby without the last transactions took over. All event streams end with CURSOR_UNKNOWN. Events that were sent and that the log lacks may be sent again',
    )
    end = found
    onRead(found.recent)
    hub.startOver(found)
  }

  let retry: NodeJS.Timeout | undefined
  let isClosed = false
  /** Whether the last reading failed, as the log says. */
  let isFailing = false
  function noteSuccess(): void {
    if (isFailing) log.info('what other replicas have written is read again')
    isFailing = false
  }

  function catchUp(): void {
    if (isClosed) return
    clearTimeout(retry)
    publisher.catchUp().then(noteSuccess, (error) => {
      if (isClosed) return
      if (!isFailing) log.warn({ reason: reasonOf(error) }, 'the events of other replicas could not be read')
      isFailing = true
      retry = setTimeout(catchUp, RETRY_MS)
    })
  }
  cluster.listen('events', {
    // A lower number is an old message, or belongs to a log with another history.
    onMessage: (lastSequence) => Number(lastSequence) !== hub.lastSequence() && catchUp(),
    onMissed: catchUp,
  })
  // Reads the entries written between the read of the state and the first message.
  catchUp()

  /** @returns the number of entries added */
  async function write(entries: () => Promise<LogEntry[]>): Promise<number> {
    const logEntries = await publisher.write(entries)
    for (const { event } of logEntries) {
      metrics.events.inc({ chain_id: event.chainId, type: event.type })
    }
    return logEntries.length
  }

  let pruning: Promise<void> = Promise.resolve()
  const timer = setInterval(() => {
    pruning = prune().then(hub.pruneThrough, (error) => {
      log.error({ err: error }, 'old events could not be removed')
    })
  }, PRUNE_INTERVAL_MS)

  return {
    eventSinkOf(chainId) {
      let token: FencingToken = { chainId, epoch: 0 }
      return {
        async open() {
          const takeover = await store.takeOver(chainId)
          token = takeover
          return takeover.position
        },
        begin: (settlement, header) => store.begin(token, settlement, header),
        async append(blocks) {
          await write(() => store.append(token, blocks))
        },
        appendMissing: (events) => write(() => store.appendMissing(token, events)),
        async revert(ancestor) {
          await write(() => store.revert(token, ancestor))
        },
        eventBlocks: (below, limit) => store.eventBlocks(chainId, below, limit),
      }
    },
    onRemoteEvent(listener) {
      remoteListener = listener
    },
    waitForCursor(cursor = '', client) {
      if (!hub.isAhead(cursor)) return hub.confirm(cursor, client)
      return publisher.catchUp().then(() => hub.confirm(cursor, client))
    },
    subscribe: hub.subscribe,
    replays: hub.replays,
    endSubscriptions: hub.close,
    async close() {
      isClosed = true
      clearInterval(timer)
      clearTimeout(retry)
      hub.close()
      await Promise.all([publisher.idle(), pruning])
    },
  }
}
