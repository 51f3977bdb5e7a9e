import { setImmediate as nextTurn } from 'node:timers/promises'
import { ServiceError } from '../domain/errors.js'
import type { Announcement, EventFilter } from '../domain/event.js'
import type { EventStore } from '../store/event-store.js'
import type { Cursors } from './cursor.js'
import { createLogPages, type LogReader } from './log-pages.js'
import { createReadQueue, type EnqueueRead } from './read-queue.js'
import { type Batch, createRecentEntries, type Entry } from './recent-entries.js'
import { createReplays, type Replays } from './replays.js'
import {
  cursorUnknown,
  type FollowedLog,
  Subscriber,
  type SubscriberOptions,
  type Subscription,
} from './subscriber.js'
import { createTurnstile } from './turnstile.js'

/** Gives every subscriber every event of the log once and in order, each at its own pace. */
export interface Hub {
  /**
   * @param after a cursor of this log; the end of the log when undefined
   * @throws ServiceError CURSOR_UNKNOWN or SHUTTING_DOWN
   */
  subscribe(after: string | undefined, filter: EventFilter, options?: SubscriberOptions): Subscription
  /** How many subscribers replay the log from the database, and how many wait for that. */
  replays: Replays['counts']
  /** Sequence of the last entry that was published. */
  lastSequence(): number
  /** Gives all subscribers new entries. These are in the log already, and follow those published before. */
  publish(announcements: readonly Announcement[]): void
  /** Notes that the log now begins after a sequence. */
  forgetThrough(sequence: number): void
  /** Ends all subscriptions. */
  close(): void
}

interface HubOptions {
  readonly cursors: Cursors
  /** What the log holds already. */
  readonly lastSequence: number
  readonly prunedSequence: number
  readonly reader: Pick<EventStore, 'readAfter' | 'readMatching'>
  /** The last entries of the log, to be kept in memory from the start. */
  readonly recent?: readonly Announcement[]
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
  const { cursors, reader, onSlow, enqueueRead = createReadQueue() } = options
  let { lastSequence, prunedSequence } = options
  const recent = createRecentEntries()
  const entries: LogReader = {
    readAfter: async (...args) => (await reader.readAfter(...args)).map(toEntry),
    readMatching: async (...args) => (await reader.readMatching(...args))?.map(toEntry),
  }
  const replays = createReplays(createLogPages(entries, enqueueRead))
  const subscribers = new Set<Subscriber>()
  const sleepers = new Set<Subscriber>()
  let isClosed = false

  const toEntry = (announcement: Announcement): Entry => ({
    ...announcement,
    cursor: cursors.write(announcement.sequence),
  })

  recent.add((options.recent ?? []).map(toEntry))

  const log: FollowedLog = {
    get lastSequence() {
      return lastSequence
    },
    readMemory: (sequence) => (sequence >= lastSequence ? NOTHING : recent.after(sequence)),
    cursorAt: cursors.write,
    replays,
    step: createTurnstile(STEPS_PER_TURN),
    sleepers,
    onEnded: (subscriber) => void subscribers.delete(subscriber),
  }

  /** Wakes many, a few at a time. */
  async function wake(sleeping: Iterable<Subscriber>): Promise<void> {
    let count = 0
    for (const subscriber of sleeping) {
      subscriber.wake()
      if (++count % WAKES_PER_TURN === 0) await nextTurn()
    }
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
      const sequence = after === undefined ? lastSequence : cursors.read(after)
      if (sequence === undefined || sequence > lastSequence || sequence < prunedSequence)
        throw cursorUnknown()
      const subscriber = new Subscriber(log, sequence, filter, options)
      subscribers.add(subscriber)
      return subscriber
    },
    replays: replays.counts,
    lastSequence: () => lastSequence,
    publish(announcements) {
      const last = announcements.at(-1)
      if (last === undefined) return
      recent.add(announcements.map(toEntry))
      lastSequence = last.sequence
      const woken = [...sleepers]
      sleepers.clear()
      void wake(woken)
    },
    forgetThrough(sequence) {
      prunedSequence = sequence
    },
    close() {
      isClosed = true
      clearInterval(timer)
      for (const subscriber of subscribers) subscriber.end(shuttingDown())
    },
  }
}

function shuttingDown(): ServiceError {
  return new ServiceError('SHUTTING_DOWN', 'The service is shutting down. Come back with the last cursor.')
}
