import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ClientId } from '../domain/client.js'
import { ServiceError } from '../domain/errors.js'
import type { EventFilter, LogEntry } from '../domain/event.js'
import type { EventStore, LogState } from '../store/event-store.js'
import { createBackfillPages, type LogReader } from './backfill-pages.js'
import { createConfirmations } from './confirmations.js'
import { createCursors } from './cursor.js'
import { createReadQueue, type EnqueueRead } from './read-queue.js'
import { createReplays, type Replays } from './replays.js'
import {
  cursorUnknown,
  type SubscribedLog,
  Subscriber,
  type SubscriberOptions,
  type SubscriberPlace,
  type Subscription,
} from './subscriber.js'
import { type Batch, createTailBuffer, type Entry } from './tail-buffer.js'
import { createTurnLimiter } from './turn-limiter.js'

/** Sends each subscriber every event of the log once and in order, at the subscriber's own pace. */
export interface Hub {
  /**
   * @param after a cursor of this log; the end of the log when undefined
   * @throws ServiceError CURSOR_UNKNOWN or SHUTTING_DOWN
   */
  subscribe(after: string | undefined, filter: EventFilter, options?: SubscriberOptions): Subscription
  /**
   * Reads the entry of a cursor that only the database can confirm. `subscribe` accepts such a cursor only afterwards.
   * @returns undefined for every other cursor; otherwise a promise that throws ServiceError DATABASE_UNAVAILABLE
   */
  confirm(after: string, client: ClientId): Promise<void> | undefined
  /** Whether a cursor of this log is later than all published entries. */
  isAhead(after: string): boolean
  /** The number of subscribers that replay the log from the database, and the number that wait for it. */
  replays: Replays['counts']
  /** Sequence of the last published entry. */
  lastSequence(): number
  /**
   * The entries of a page after the last published entry.
   * @param page the log from that entry on, or from its beginning when nothing was published
   * @returns undefined when the log has another entry there, or none, and so another history
   */
  newIn(page: readonly LogEntry[]): readonly LogEntry[] | undefined
  /** Sends new entries to all subscribers. They are in the log already and follow the published ones. */
  publish(logEntries: readonly LogEntry[]): void
  /** Notes that the log now begins after a sequence. */
  pruneThrough(sequence: number): void
  /** Ends all subscriptions with CURSOR_UNKNOWN, and continues from the end of a log with another history. */
  startOver(end: LogEnd): void
  /** Ends all subscriptions. */
  close(): void
}

/** The id of a log and its end. */
export interface LogEnd extends LogState {
  /** The last entries, which are kept in memory from the start. */
  readonly recent?: readonly LogEntry[]
}

interface HubOptions extends LogEnd {
  readonly reader: Pick<EventStore, 'readEntry' | 'readAfter' | 'readMatching'>
  readonly onSlow: () => void
  /** Runs reads of the log in turn. */
  readonly enqueueRead?: EnqueueRead
}

const CHECK_INTERVAL_MS = 1000
/** Subscribers that are woken in one turn of the event loop. */
const WAKES_PER_TURN = 64
/** Batches that replaying subscribers process in one turn of the event loop; each takes about 10 us. */
const STEPS_PER_TURN = 64

const NOTHING: Batch = []

/** Builds the hub over an event log. */
export function createHub(options: HubOptions): Hub {
  const { reader, onSlow, enqueueRead = createReadQueue() } = options
  let cursors = createCursors(options.logId)
  let { prunedSequence } = options
  let last: SubscriberPlace = { sequence: 0, cursor: '' }
  const recent = createTailBuffer()
  const entries: LogReader = {
    readEntry: async (sequence) => {
      const found = await reader.readEntry(sequence)
      return found && toEntry(found)
    },
    readAfter: async (...args) => (await reader.readAfter(...args)).map(toEntry),
    readMatching: async (...args) => (await reader.readMatching(...args))?.map(toEntry),
  }
  const pages = createBackfillPages(entries, enqueueRead)
  const replays = createReplays(pages)
  const confirmations = createConfirmations(entries.readEntry, enqueueRead)
  const subscribers = new Set<Subscriber>()
  const sleepers = new Set<Subscriber>()
  let hasStartedOver = false
  let isClosed = false

  const toEntry = ({ sequence, event, digest }: LogEntry): Entry => ({
    sequence,
    event,
    cursor: cursors.write({ sequence, digest }),
  })

  const log: SubscribedLog = {
    get lastSequence() {
      return last.sequence
    },
    readMemory: (sequence) => (sequence >= last.sequence ? NOTHING : recent.after(sequence)),
    replays,
    step: createTurnLimiter(STEPS_PER_TURN),
    sleepers,
    onEnded: (subscriber) => void subscribers.delete(subscriber),
  }

  function begin(end: LogEnd): void {
    cursors = createCursors(end.logId)
    prunedSequence = end.prunedSequence
    recent.clear()
    recent.add((end.recent ?? []).map(toEntry))
    // A version that wrote no digests may have removed all entries.
    const unconfirmed = cursors.write({ sequence: end.lastSequence, digest: undefined })
    const cursor = recent.at(end.lastSequence)?.cursor ?? unconfirmed
    last = { sequence: end.lastSequence, cursor }
  }
  begin(options)

  /** The cursor of a sequence, if it is known without a read. */
  function knownCursorAt(sequence: number): string | undefined {
    return sequence === 0 ? cursors.write({ sequence, digest: undefined }) : recent.at(sequence)?.cursor
  }

  /**
   * The position of a cursor, if the log still has it and the cursor belongs to this log's history. A cursor of a version
   * without digests has only a sequence. It is accepted as long as this process has seen only one history. Retention ends
   * all such cursors some time after the upgrade.
   */
  function placeOf(after: string): SubscriberPlace | undefined {
    const { sequence, digest } = cursors.read(after) ?? {}
    if (sequence === undefined || sequence > last.sequence || sequence < prunedSequence) return undefined
    const known = knownCursorAt(sequence)
    if (digest === undefined && sequence > 0)
      return hasStartedOver ? undefined : { sequence, cursor: known ?? after }
    const isOfHistory = known === undefined ? confirmations.has(after) : known === after
    return isOfHistory ? { sequence, cursor: after } : undefined
  }

  /** Wakes subscribers, a few in each turn of the event loop. */
  async function wake(sleeping: Iterable<Subscriber>): Promise<void> {
    let count = 0
    for (const subscriber of sleeping) {
      subscriber.wake()
      if (++count % WAKES_PER_TURN === 0) await nextTurn()
    }
  }

  function endAll(reason: ServiceError): void {
    for (const subscriber of subscribers) subscriber.end(reason)
  }

  const timer = setInterval(() => {
    const now = performance.now()
    void wake([...sleepers].filter((subscriber) => subscriber.hasSleptEnough(now)))
    for (const subscriber of subscribers) {
      if (!subscriber.isTooSlow(now)) continue
      onSlow()
      subscriber.end(new ServiceError('SUBSCRIBER_TOO_SLOW', 'This client is too slow for the events.'))
    }
  }, CHECK_INTERVAL_MS)

  return {
    subscribe(after, filter, options = {}) {
      if (isClosed) throw shuttingDown()
      const place = after === undefined ? last : placeOf(after)
      if (place === undefined) throw cursorUnknown()
      const subscriber = new Subscriber(log, place, filter, options)
      subscribers.add(subscriber)
      return subscriber
    },
    confirm(after, client) {
      const { sequence = 0, digest } = cursors.read(after) ?? {}
      if (digest === undefined || sequence > last.sequence || sequence < prunedSequence) return undefined
      if (knownCursorAt(sequence) !== undefined || confirmations.has(after)) return undefined
      return confirmations.confirm(after, sequence, client)
    },
    isAhead: (after) => (cursors.read(after)?.sequence ?? 0) > last.sequence,
    replays: replays.counts,
    lastSequence: () => last.sequence,
    newIn(page) {
      const [same, ...news] = page
      if (last.sequence === 0) return page
      if (same === undefined || same.sequence !== last.sequence) return undefined
      const isUnconfirmed = cursors.read(last.cursor)?.digest === undefined
      return isUnconfirmed || toEntry(same).cursor === last.cursor ? news : undefined
    },
    publish(logEntries) {
      const added = logEntries.map(toEntry)
      last = added.at(-1) ?? last
      if (added.length === 0) return
      recent.add(added)
      const woken = [...sleepers]
      sleepers.clear()
      void wake(woken)
    },
    pruneThrough(sequence) {
      prunedSequence = sequence
    },
    startOver(end) {
      hasStartedOver = true
      confirmations.clear()
      pages.clear()
      begin(end)
      endAll(historyLost())
    },
    close() {
      isClosed = true
      clearInterval(timer)
      endAll(shuttingDown())
    },
  }
}

function shuttingDown(): ServiceError {
  return new ServiceError('SHUTTING_DOWN', 'The service is shutting down. Come back with the last cursor.')
}

/** Short enough for the close reason of a WebSocket. */
function historyLost(): ServiceError {
  return new ServiceError(
    'CURSOR_UNKNOWN',
    'The event log went back to an earlier state, and this cursor is lost. Subscribe again without it.',
  )
}
