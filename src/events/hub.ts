import { setImmediate as nextTurn } from 'node:timers/promises'
import { ServiceError } from '../domain/errors.js'
import { type Announcement, type EventFilter, matches } from '../domain/event.js'
import type { Cursors } from './cursor.js'
import { createLogPages } from './log-pages.js'
import { type Batch, createRecentEntries, type Entry } from './recent-entries.js'

/** One subscriber's way through the log: first what came after its cursor, then what comes. */
export interface Subscription {
  /** The place that it has got to. */
  cursor(): string
  /**
   * The next events that pass the filter, taken when the last ones have been sent. Empty when nothing has come for a
   * while, as a sign of life.
   * @throws ServiceError CURSOR_UNKNOWN, SUBSCRIBER_TOO_SLOW or SHUTTING_DOWN: the subscription has ended
   */
  next(): Promise<Batch>
  /** Aborts with what `next` throws when the subscription has ended, also while nobody waits there. */
  readonly ended: AbortSignal
  /** Ends it from the subscriber's side. */
  close(): void
}

/** Gives every subscriber every event of the log once and in order, each at its own pace. */
export interface Hub {
  /**
   * @param after a cursor of this log; the end of the log when undefined
   * @throws ServiceError CURSOR_UNKNOWN or STREAM_LIMIT_REACHED
   */
  subscribe(after: string | undefined, filter: EventFilter): Subscription
  /** Sequence of the last entry that was told. */
  lastSequence(): number
  /** Tells all subscribers of new entries, which are in the log already and follow those told before. */
  publish(announcements: readonly Announcement[]): void
  /** Takes note that the log now begins behind a sequence. */
  forgetThrough(sequence: number): void
  /** Ends all subscriptions. */
  close(): void
}

interface HubOptions {
  readonly cursors: Cursors
  /** What the log holds already. */
  readonly lastSequence: number
  readonly prunedSequence: number
  readonly readAfter: (sequence: number, limit: number) => Promise<Announcement[]>
  readonly maxSubscribers: number
  readonly onSlow: () => void
}

/** How long a subscriber may take nothing of what it was given. */
const STALL_MS = 10_000
/** How long one that had caught up may be behind. */
const MAX_BEHIND_MS = 60_000
/** How long a subscriber is left without a sign of life, to the next check. */
const SILENCE_MS = 15_000
const CHECK_INTERVAL_MS = 1000
/** Subscribers that are woken before anything else gets its turn. */
const WAKES_PER_TURN = 64
/** Batches in which a subscriber finds nothing for itself before anything else gets its turn. */
const SKIPS_PER_TURN = 16

/** Builds the hub over an event log. */
export function createHub(options: HubOptions): Hub {
  const { cursors, maxSubscribers, onSlow } = options
  let { lastSequence, prunedSequence } = options
  const recent = createRecentEntries()
  const pages = createLogPages(async (sequence, limit) =>
    (await options.readAfter(sequence, limit)).map(toEntry),
  )
  const subscribers = new Set<Subscriber>()
  let sleepers = new Set<Subscriber>()
  let isClosed = false

  const toEntry = (announcement: Announcement): Entry => ({
    ...announcement,
    cursor: cursors.write(announcement.sequence),
  })

  /** What follows a place: out of memory, else out of the log; empty at the end, undefined while nobody can tell. */
  async function read(sequence: number): Promise<Batch | undefined> {
    if (sequence >= lastSequence) return []
    const batch = recent.after(sequence)
    if (batch !== undefined) return batch
    await nextTurn()
    const page = await pages.after(sequence).catch(undefinedWhenAway)
    if (page === undefined) return undefined
    // Sequences have no gaps: what is missing is no longer kept.
    if (page[0]?.sequence !== sequence + 1) throw cursorUnknown()
    return page
  }

  /** Wakes many, a few at a time. */
  async function wake(sleeping: Iterable<Subscriber>): Promise<void> {
    let count = 0
    for (const subscriber of sleeping) {
      subscriber.wake()
      if (++count % WAKES_PER_TURN === 0) await nextTurn()
    }
  }

  class Subscriber implements Subscription {
    readonly #filter: EventFilter
    readonly #wantsAll: boolean
    #sequence: number
    #end: { readonly reason: unknown } | undefined
    /** Made when somebody asks for it, as it is large, and most subscribers only wait. */
    #ended: AbortController | undefined
    #wake: (() => void) | undefined
    #sleepsUntil = 0
    #isLive = false
    /** Since when it has been sending what it was given last; undefined while it waits for more. */
    #busySince: number | undefined = performance.now()
    /** Since when it has been behind, after it had caught up. */
    #behindSince: number | undefined

    constructor(sequence: number, filter: EventFilter) {
      this.#sequence = sequence
      this.#filter = filter
      this.#wantsAll = Object.values(filter).every(({ size }) => size === 0)
    }

    get ended(): AbortSignal {
      this.#ended ??= new AbortController()
      if (this.#end !== undefined) this.#ended.abort(this.#end.reason)
      return this.#ended.signal
    }

    cursor(): string {
      return cursors.write(this.#sequence)
    }

    /**
     * Goes on through the log until something passes the filter; after a while without, returns empty-handed. All in
     * one function, as each async one that waits takes memory, and here thousands may wait.
     */
    async next(): Promise<Batch> {
      this.#busySince = undefined
      const giveUpAt = performance.now() + SILENCE_MS
      try {
        for (let skipped = 1; ; skipped++) {
          if (this.#end !== undefined) throw this.#end.reason
          const batch = await read(this.#sequence)
          if (batch === undefined) {
            if (performance.now() >= giveUpAt) return []
            // That is not the subscriber's fault.
            this.#behindSince = undefined
            await this.#sleep(performance.now())
            continue
          }
          const last = batch.at(-1)
          if (last !== undefined) this.#moveTo(last.sequence)
          const wanted = this.#wantsAll ? batch : batch.filter(({ event }) => matches(this.#filter, event))
          if (wanted.length > 0 || performance.now() >= giveUpAt) return wanted
          if (last !== undefined && skipped % SKIPS_PER_TURN === 0) await nextTurn()
          // What was told between reading and falling asleep would wake nobody, nor would the end.
          if (this.#sequence < lastSequence || this.#end !== undefined) continue
          this.#isLive = true
          this.#behindSince = undefined
          await this.#sleep(giveUpAt)
        }
      } catch (error) {
        this.end(error)
        throw error
      } finally {
        this.#busySince = performance.now()
      }
    }

    /** Resolves when there may be news, when the time has come, or at the end. */
    #sleep(until: number): Promise<void> {
      this.#sleepsUntil = until
      sleepers.add(this)
      return new Promise((resolve) => {
        this.#wake = resolve
      })
    }

    wake(): void {
      sleepers.delete(this)
      this.#wake?.()
    }

    hasSleptEnough(now: number): boolean {
      return now >= this.#sleepsUntil
    }

    #moveTo(sequence: number): void {
      this.#sequence = sequence
      if (sequence >= lastSequence) this.#behindSince = undefined
      else if (this.#isLive) this.#behindSince ??= performance.now()
    }

    isTooSlow(now: number): boolean {
      const isStalled = this.#busySince !== undefined && now - this.#busySince > STALL_MS
      return isStalled || (this.#behindSince !== undefined && now - this.#behindSince > MAX_BEHIND_MS)
    }

    close(): void {
      this.end(new Error('the subscriber has left'))
    }

    end(reason: unknown): void {
      if (this.#end !== undefined) return
      this.#end = { reason }
      subscribers.delete(this)
      this.#ended?.abort(reason)
      this.wake()
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
    subscribe(after, filter) {
      if (isClosed) throw shuttingDown()
      if (subscribers.size >= maxSubscribers) {
        throw new ServiceError('STREAM_LIMIT_REACHED', 'All places at the event stream are taken.')
      }
      const sequence = after === undefined ? lastSequence : cursors.read(after)
      if (sequence === undefined || sequence > lastSequence || sequence < prunedSequence)
        throw cursorUnknown()
      const subscriber = new Subscriber(sequence, filter)
      subscribers.add(subscriber)
      return subscriber
    },
    lastSequence: () => lastSequence,
    publish(announcements) {
      const last = announcements.at(-1)
      if (last === undefined) return
      recent.add(announcements.map(toEntry))
      lastSequence = last.sequence
      const woken = sleepers
      sleepers = new Set()
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

/** A database that is away is asked again; everything else ends the subscription. */
function undefinedWhenAway(error: unknown): undefined {
  if (error instanceof ServiceError && error.reason === 'DATABASE_UNAVAILABLE') return undefined
  throw error
}

function cursorUnknown(): ServiceError {
  return new ServiceError(
    'CURSOR_UNKNOWN',
    'This cursor is none of this log, or what came after it is no longer kept.',
  )
}

function shuttingDown(): ServiceError {
  return new ServiceError('SHUTTING_DOWN', 'The service is shutting down. Come back with the last cursor.')
}
