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
  type FollowedLog,
  Subscriber,
  type SubscriberOptions,
  type SubscriberPlace,
  type Subscription,
} from './subscriber.js'
import { type Batch, createTailBuffer, type Entry } from './tail-buffer.js'
import { createTurnstile } from './turnstile.js'

/** Gives every subscriber every event of the log once and in order, each at its own pace. */
export interface Hub {
  /**
   * @param after a cursor of this log; the end of the log when undefined
   * @throws ServiceError CURSOR_UNKNOWN or SHUTTING_DOWN
   */
  subscribe(after: string | undefined, filter: EventFilter, options?: SubscriberOptions): Subscription
  /**
   * Reads the entry of a cursor where only the database can confirm it: `subscribe` takes such a cursor only afterwards.
   * @returns undefined for every other cursor; else a promise that throws ServiceError DATABASE_UNAVAILABLE
   */
  confirm(after: string, client: ClientId): Promise<void> | undefined
  /** Whether a cursor of this log stands after all that was published. */
  isAhead(after: string): boolean
  /** How many subscribers replay the log from the database, and how many wait for that. */
  replays: Replays['counts']
  /** Sequence of the last entry that was published. */
  lastSequence(): number
  /**
   * What the log has after the last entry that was published.
   * @param page what the log has from that entry on, or from its beginning when nothing was published
   * @returns undefined when the log has another entry there, or none: then it has another history
   */
  newIn(page: readonly LogEntry[]): readonly LogEntry[] | undefined
  /** Gives all subscribers new entries. These are in the log already, and follow those published before. */
  publish(logEntries: readonly LogEntry[]): void
  /** Notes that the log now begins after a sequence. */
  pruneThrough(sequence: number): void
  /** Ends all subscriptions with CURSOR_UNKNOWN, and goes on from the end of a log with another history. */
  startOver(end: LogEnd): void
  /** Ends all subscriptions. */
  close(): void
}

/** Which log there is, and its end. */
export interface LogEnd extends LogState {
  /** The last entries, to be kept in memory from the start. */
  readonly recent?: readonly LogEntry[]
}

interface HubOptions extends LogEnd {
  readonly reader: Pick<EventStore, 'readEntry' | 'readAfter' | 'readMatching'>
  readonly onSlow: () => void
  /** Has the log read. */
  readonly enqueueRead?: EnqueueRead
}

const CHECK_INTERVAL_MS = 1000
/** Subscribers that are woken before anything else gets its turn. */
const WAKES_PER_TURN = 64
/** Batches that replaying subscribers go through together before anything else gets its turn; each takes about 10 us. */
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

  const log: FollowedLog = {
    get lastSequence() {
      return last.sequence
    },
    readMemory: (sequence) => (sequence >= last.sequence ? NOTHING : recent.after(sequence)),
    replays,
    step: createTurnstile(STEPS_PER_TURN),
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

  /** The cursor of a sequence, where it is known without a read. */
  function knownCursorAt(sequence: number): string | undefined {
    return sequence === 0 ? cursors.write({ sequence, digest: undefined }) : recent.at(sequence)?.cursor
  }

  /**
   * The place of a cursor, if that is kept and the cursor is known to be of this log's history. A cursor of a version that
   * wrote no digests only says how many entries came before. It is taken at its word as long as this process knows of one
   * history only; retention ends all such cursors some time after the upgrade.
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

  /** Wakes many, a few at a time. */
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

/** As long as a WebSocket can say it. */
function historyLost(): ServiceError {
  return new ServiceError(
    'CURSOR_UNKNOWN',
    'The event log went back to an earlier state, and this cursor is lost. Subscribe again without it.',
  )
}
