import type { BlockHeader, ChainPosition, NewBlocks } from '../domain/block.js'
import type { Announcement, StreamEvent } from '../domain/event.js'
import type { Address } from '../domain/hex.js'
import type { Replicas } from '../domain/replicas.js'
import type { EventStore } from '../store/event-store.js'
import type { ReadersTerm } from '../store/reader-terms.js'
import type { Logger } from '../telemetry/log.js'
import type { Metrics } from '../telemetry/metrics.js'
import { createCursors } from './cursor.js'
import { createHub, type Hub } from './hub.js'
import { createPublisher } from './publisher.js'
import { MAX_RECENT } from './recent-entries.js'

/** The log of order events: the readers of chains write it, subscribers follow it. */
export interface EventLog {
  /** The journal of a chain, to be opened by whoever reads that. */
  journalOf(chainId: number): ChainJournal
  /** Calls `listener` with each event that another replica has announced, before any subscriber is told. */
  onOthersEvent(listener: (event: StreamEvent) => void): void
  /**
   * Gets to a cursor that another replica has given, and that lies ahead of all that this one has heard of.
   * @returns undefined for every other cursor; else a promise that throws ServiceError DATABASE_UNAVAILABLE
   */
  reach(cursor: string | undefined): Promise<void> | undefined
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

/** What is written for one chain; each write, once it is committed, is told to subscribers of all replicas. */
export interface ChainJournal {
  /** Takes the chain over: no other journal of it can be written any more. @returns where it stands */
  open(): Promise<ChainPosition | undefined>
  /** Begins to read the chain behind a block. @throws TermOverError; here and below */
  begin(settlement: Address, header: BlockHeader): Promise<void>
  append(blocks: NewBlocks): Promise<void>
  /** Takes back all events behind a block. */
  revert(ancestor: BlockHeader): Promise<void>
}

interface EventLogOptions {
  readonly store: EventStore
  readonly replicas: Pick<Replicas, 'listen'>
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
  const { store, replicas, eventRetentionDays, keptEntries = MAX_RECENT, metrics, log, now } = options
  const prune = () => store.prune(now() - eventRetentionDays * DAY_MS)
  await prune()
  const { logId, ...bounds } = await store.readState()
  const cursors = createCursors(logId)
  const hub = createHub({
    ...bounds,
    cursors,
    reader: store,
    recent: await store.readAfter(Math.max(0, bounds.lastSequence - keptEntries), keptEntries),
    onSlow: () => metrics.streamDrops.inc(),
  })
  let othersListener: (event: StreamEvent) => void = () => {}
  const publisher = createPublisher(hub, store.readAfter, (announcements) => {
    for (const { event } of announcements) othersListener(event)
  })
  let retry: NodeJS.Timeout | undefined
  function catchUp(): void {
    clearTimeout(retry)
    publisher.catchUp().catch((error) => {
      log.warn({ reason: String(error) }, 'what other replicas have written could not be read')
      retry = setTimeout(catchUp, RETRY_MS)
    })
  }
  replicas.listen('events', {
    onText: (lastSequence) => Number(lastSequence) > hub.lastSequence() && catchUp(),
    onMissed: catchUp,
  })
  // What came between reading the state and listening.
  catchUp()

  async function write(entries: () => Promise<Announcement[]>): Promise<void> {
    const announcements = await publisher.write(entries)
    for (const { event } of announcements) {
      metrics.events.inc({ chain_id: event.chainId, type: event.type })
    }
  }

  let pruning: Promise<void> = Promise.resolve()
  const timer = setInterval(() => {
    pruning = prune().then(hub.forgetThrough, (error) => {
      log.error({ err: error }, 'old events could not be removed')
    })
  }, PRUNE_INTERVAL_MS)

  return {
    journalOf(chainId) {
      let term: ReadersTerm = { chainId, number: 0, position: undefined }
      return {
        async open() {
          term = await store.takeOver(chainId)
          return term.position
        },
        begin: (settlement, header) => store.begin(term, settlement, header),
        append: (blocks) => write(() => store.append(term, blocks)),
        revert: (ancestor) => write(() => store.revert(term, ancestor)),
      }
    },
    onOthersEvent(listener) {
      othersListener = listener
    },
    reach(cursor = '') {
      const sequence = cursors.read(cursor) ?? 0
      return sequence > hub.lastSequence() ? publisher.catchUp() : undefined
    },
    subscribe: hub.subscribe,
    replays: hub.replays,
    endSubscriptions: hub.close,
    async close() {
      clearInterval(timer)
      clearTimeout(retry)
      hub.close()
      await Promise.all([publisher.idle(), pruning])
    },
  }
}
