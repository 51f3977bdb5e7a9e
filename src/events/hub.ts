import { setImmediate as nextTurn } from 'node:timers/promises'
import { type ClientId, THIS_PROCESS } from '../domain/client.js'
import { ServiceError } from '../domain/errors.js'
import { type Announcement, type EventFilter, matches } from '../domain/event.js'
import type { EventStore } from '../store/event-store.js'
import type { Cursors } from './cursor.js'
import { createLogPages, type LogPart } from './log-pages.js'
import { type Batch, createRecentEntries, type Entry } from './recent-entries.js'
import { createReplays, type Replay, type Replays } from './replays.js'
import { createTurnstile } from './turnstile.js'

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

/** Whom a subscription is for. */
export interface SubscriberOptions {
  /** Whose replays count together; the process itself when absent. */
  readonly client?: ClientId
  /** Called once when the subscription has ended, whatever has ended it. */
  readonly onEnd?: () => void
}

/** Gives every subscriber every event of the log once and in order, each at its own pace. */
export interface Hub {
  /**
   * @param after a cursor of this log; the end of the log when undefined
   * @throws ServiceError CURSOR_UNKNOWN or SHUTTING_DOWN
   */
  subscribe(after: string | undefined, filter: EventFilter, options?: SubscriberOptions): Subscription
  /** How many subscribers replay the log from the database, and how many wait for that. */
  replays: Replays['counts']
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
  readonly reader: Pick<EventStore, 'readAfter' | 'readMatching'>
  /** The last entries that the log holds, to be kept in memory from the beginning. */
  readonly recent?: readonly Announcement[]
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
/** Batches that replaying subscribers go through together before anything else gets its turn; each takes about 10 us. */
const STEPS_PER_TURN = 64

const NOTHING: Batch = []
/** Stands for a part of the log that is no longer kept. */
const GONE: LogPart = { entries: NOTHING, through: 0 }

/** Builds the hub over an event log. */
export function createHub(options: HubOptions): Hub {
  const { cursors, reader, onSlow } = options
  let { lastSequence, prunedSequence } = options
  const recent = createRecentEntries()
  const replays = createReplays(
    createLogPages({
      readAfter: async (...args) => (await reader.readAfter(...args)).map(toEntry),
      readMatching: async (...args) => (await reader.readMatching(...args))?.map(toEntry),
    }),
  )
  const subscribers = new Set<Subscriber>()
  let sleepers = new Set<Subscriber>()
  const step = createTurnstile(STEPS_PER_TURN)
  let isClosed = false

  const toEntry = (announcement: Announcement): Entry => ({
    ...announcement,
    cursor: cursors.write(announcement.sequence),
  })

  recent.add((options.recent ?? []).map(toEntry))

  /** What follows a place, where that is in memory; empty at the end of the log. */
  function readMemory(sequence: number): Batch | undefined {
    return sequence >= lastSequence ? NOTHING : recent.after(sequence)
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
    readonly #client: ClientId
    readonly #onEnd: () => void
    #sequence: number
    /** While it reads what is not in memory. */
    #replay: Replay | undefined
    /** A part of the log that has been asked for; it stays so when the subscriber is given a sign of life meanwhile. */
    #part: Promise<LogPart | undefined> | undefined
    /** Since when it has waited for that part, which is not its own fault. */
    #waitsSince: number | undefined
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

    constructor(sequence: number, filter: EventFilter, { client, onEnd }: SubscriberOptions) {
      this.#client = client ?? THIS_PROCESS
      this.#onEnd = onEnd ?? (() => {})
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
        for (;;) {
          if (this.#end !== undefined) throw this.#end.reason
          let batch = readMemory(this.#sequence)
          let through = batch?.at(-1)?.sequence
          if (batch === undefined) {
            const part = await this.#readLog(giveUpAt)
            if (part === undefined) {
              if (performance.now() >= giveUpAt) return []
              continue
            }
            batch = part.entries
            through = part.through
          } else this.#endReplay()
          if (through !== undefined) this.#moveTo(through)
          const wanted = this.#wantsAll ? batch : batch.filter(({ event }) => matches(this.#filter, event))
          if (wanted.length > 0 || performance.now() >= giveUpAt) return wanted
          if (this.#sequence < lastSequence) await step()
          // What was told between reading and falling asleep would wake nobody, nor would the end.
          if (this.#sequence < lastSequence || this.#end !== undefined) continue
          this.#endReplay()
          this.#isLive = true
          this.#behindSince = undefined
          await this.#sleep(giveUpAt)
        }
      } catch (error) {
        this.end(error)
        throw this.#end?.reason ?? error
      } finally {
        this.#busySince = performance.now()
      }
    }

    /** The next part of the log; undefined when it has not come by a time, or while the database is away. */
    async #readLog(giveUpAt: number): Promise<LogPart | undefined> {
      this.#replay ??= replays.of(this.#client, this.#filter)
      this.#waitsSince ??= performance.now()
      this.#part ??= this.#replay.next(this.#sequence, lastSequence)
      try {
        const part = await Promise.race([this.#part.then((found) => found ?? GONE), this.#sleep(giveUpAt)])
        if (part === undefined) return undefined
        this.#endWait()
        if (part === GONE) throw cursorUnknown()
        // Many may have waited for the same part.
        await step()
        return part
      } catch (error) {
        this.#endWait()
        if (!isAway(error)) throw error
        // That is not the subscriber's fault.
        this.#behindSince = undefined
        await this.#sleep(performance.now())
        return undefined
      }
    }

    #endWait(): void {
      sleepers.delete(this)
      this.#part = undefined
      if (this.#behindSince !== undefined && this.#waitsSince !== undefined)
        this.#behindSince += performance.now() - this.#waitsSince
      this.#waitsSince = undefined
    }

    #endReplay(): void {
      this.#replay?.end()
      this.#replay = undefined
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
      if (isStalled || this.#behindSince === undefined || this.#waitsSince !== undefined) return isStalled
      return now - this.#behindSince > MAX_BEHIND_MS
    }

    close(): void {
      this.end(new Error('the subscriber has left'))
    }

    end(reason: unknown): void {
      if (this.#end !== undefined) return
      this.#end = { reason }
      subscribers.delete(this)
      this.#endReplay()
      this.#onEnd()
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
    subscribe(after, filter, options = {}) {
      if (isClosed) throw shuttingDown()
      const sequence = after === undefined ? lastSequence : cursors.read(after)
      if (sequence === undefined || sequence > lastSequence || sequence < prunedSequence)
        throw cursorUnknown()
      const subscriber = new Subscriber(sequence, filter, options)
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
function isAway(error: unknown): boolean {
  return error instanceof ServiceError && error.reason === 'DATABASE_UNAVAILABLE'
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
