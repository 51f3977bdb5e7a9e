import type { ClientId } from '../domain/client.js'
import type { ClusterBus } from '../domain/cluster.js'
import { reasonOf } from '../domain/errors.js'
import type { LogEntry, StreamEvent } from '../domain/event.js'
import type { EventSink } from '../domain/event-sink.js'
import type { EventStore } from '../store/event-store.js'
import type { LeaderEpoch } from '../store/leader-epochs.js'
import type { Logger } from '../telemetry/log.js'
import type { Metrics } from '../telemetry/metrics.js'
import { createHub, type Hub, type LogEnd } from './hub.js'
import { createPublisher } from './publisher.js'
import { MAX_RECENT } from './tail-buffer.js'

/** The log of order events: the readers of chains write it, subscribers follow it. */
export interface EventLog {
  /** The journal of a chain, to be opened by whoever reads that. */
  eventSinkOf(chainId: number): EventSink
  /** Calls `listener` with each event that another replica has announced, before any subscriber is told. */
  onRemoteEvent(listener: (event: StreamEvent) => void): void
  /**
   * Waits for the database where `subscribe` needs it for a cursor: for one that another replica has given, after all that
   * this one has published, and for one that no entry in memory confirms.
   * @returns undefined for every other cursor; else a promise that throws ServiceError DATABASE_UNAVAILABLE
   */
  waitForCursor(cursor: string | undefined, client: ClientId): Promise<void> | undefined
  /**
   * @param after a cursor; only what comes from now on when undefined
   * @throws ServiceError CURSOR_UNKNOWN or SHUTTING_DOWN
   */
  subscribe: Hub['subscribe']
  /** How many subscribers replay the log from the database, and how many wait for that. */
  replays: Hub['replays']
  /** Ends all subscriptions, with their places kept by their cursors, and takes no new ones. */
  endSubscriptions(): void
  close(): Promise<void>
}

interface EventLogOptions {
  readonly store: EventStore
  readonly cluster: Pick<ClusterBus, 'listen'>
  readonly eventRetentionDays: number
  /** Entries at the end of the log that are read into memory at the start, for clients that come back after a restart. */
  readonly keptEntries?: number
  readonly metrics: Metrics
  readonly log: Logger
  /** The clock: Unix time in milliseconds. */
  readonly now: () => number
}

const DAY_MS = 86_400_000
const PRUNE_INTERVAL_MS = 10 * 60_000
const RETRY_MS = 1000

/** Opens the log of a store, and keeps it from growing beyond its retention. */
export async function openEventLog(options: EventLogOptions): Promise<EventLog> {
  const { store, cluster, eventRetentionDays, keptEntries = MAX_RECENT, metrics, log, now } = options
  /** Entries grow old by the time of the last one: a clock that is wrong for a while removes nothing. */
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

  /** Goes on from the database's log after a failover to a standby without the last entries, or a restored backup. */
  async function onOtherHistory(): Promise<void> {
    const found = await readEnd()
    const { logId, lastSequence, prunedSequence } = found
    const published = hub.lastSequence()
    // A version that kept no entry for cursors may have removed the last one: then nothing says that it is another.
    const isEmptied = found.recent.length === 0 && lastSequence === published && prunedSequence === published
    if (isEmptied && logId === end.logId) return
    metrics.eventLogReplacements.inc()
    log.error(
      { published, lastSequence, isOtherLog: logId !== end.logId },
      'the event log in the database is not the one that was sent to subscribers: a backup was restored, or a standby without the last transactions took over. All event streams end with CURSOR_UNKNOWN; events that were sent and are missing in the log may be sent again',
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
      if (!isFailing)
        log.warn({ reason: reasonOf(error) }, 'what other replicas have written could not be read')
      isFailing = true
      retry = setTimeout(catchUp, RETRY_MS)
    })
  }
  cluster.listen('events', {
    // A lower number is an old one, or that of a log with another history.
    onMessage: (lastSequence) => Number(lastSequence) !== hub.lastSequence() && catchUp(),
    onMissed: catchUp,
  })
  // What came between reading the state and listening.
  catchUp()

  /** @returns how many entries were added */
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
      let epoch: LeaderEpoch = { chainId, number: 0, position: undefined }
      return {
        async open() {
          epoch = await store.takeOver(chainId)
          return epoch.position
        },
        begin: (settlement, header) => store.begin(epoch, settlement, header),
        async append(blocks) {
          await write(() => store.append(epoch, blocks))
        },
        appendMissing: (events) => write(() => store.appendMissing(epoch, events)),
        async revert(ancestor) {
          await write(() => store.revert(epoch, ancestor))
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
