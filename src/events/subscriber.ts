import { type ClientId, THIS_PROCESS } from '../domain/client.js'
import { ServiceError } from '../domain/errors.js'
import { type EventFilter, matches } from '../domain/event.js'
import type { LogPart } from './backfill-pages.js'
import type { Replay, Replays } from './replays.js'
import type { Batch } from './tail-buffer.js'
import type { Turnstile } from './turnstile.js'

/** One subscriber's way through the log: first the events after its cursor, then new ones. */
export interface Subscription {
  /** The place that it has got to. */
  cursor(): string
  /**
   * The next events that pass the filter, taken when the last ones have been sent. Empty when nothing has come for a
   * while, as a sign of life.
   * @throws ServiceError CURSOR_UNKNOWN, SUBSCRIBER_TOO_SLOW or SHUTTING_DOWN: the subscription has ended
   */
  next(): Promise<Batch>
  /** Aborts with what `next` throws when the subscription has ended, also when no call of `next` waits. */
  readonly ended: AbortSignal
  /** Ends it from the subscriber's side. */
  close(): void
}

/** The owner of a subscription. */
export interface SubscriberOptions {
  /** Whose replays count together; the process itself when absent. */
  readonly client?: ClientId
  /** Called once, when the subscription has ended for any reason. */
  readonly onEnd?: () => void
}

/** Where a subscription begins. */
export interface SubscriberPlace {
  readonly sequence: number
  readonly cursor: string
}

/** The log as its subscribers see it. */
export interface FollowedLog {
  /** Sequence of the last entry that was published. */
  readonly lastSequence: number
  /** The entries after a sequence, where these are in memory; empty at the end of the log. */
  readMemory(sequence: number): Batch | undefined
  readonly replays: Replays
  /** Waits for a turn among the subscribers that go on without waiting for anything else. */
  readonly step: Turnstile
  /** Those to wake when an entry is published, or when they have slept for as long as they wanted. */
  readonly sleepers: Set<Subscriber>
  /** Called once. */
  onEnded(subscriber: Subscriber): void
}

/** How long a subscriber may take nothing of what it was given. */
const STALL_MS = 10_000
/** How long one that had caught up may lag behind. */
const MAX_BEHIND_MS = 60_000
/** How long a subscriber is left without a sign of life, to the next check. */
const SILENCE_MS = 15_000

/** Stands for a part of the log that is no longer kept. */
const GONE: LogPart = { entries: [], through: 0, cursor: '' }

/** Follows the log at its own pace: from the database, from memory, then live. */
export class Subscriber implements Subscription {
  readonly #log: FollowedLog
  readonly #filter: EventFilter
  readonly #wantsAll: boolean
  readonly #client: ClientId
  readonly #onEnd: (() => void) | undefined
  #sequence: number
  #cursor: string
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

  constructor(
    log: FollowedLog,
    { sequence, cursor }: SubscriberPlace,
    filter: EventFilter,
    { client, onEnd }: SubscriberOptions,
  ) {
    this.#log = log
    this.#client = client ?? THIS_PROCESS
    this.#onEnd = onEnd
    this.#sequence = sequence
    this.#cursor = cursor
    this.#filter = filter
    this.#wantsAll = Object.values(filter).every(({ size }) => size === 0)
  }

  get ended(): AbortSignal {
    this.#ended ??= new AbortController()
    if (this.#end !== undefined) this.#ended.abort(this.#end.reason)
    return this.#ended.signal
  }

  cursor(): string {
    return this.#cursor
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
        let batch = this.#log.readMemory(this.#sequence)
        if (batch === undefined) {
          const part = await this.#readLog(giveUpAt)
          if (part === undefined) {
            if (performance.now() >= giveUpAt) return []
            continue
          }
          batch = part.entries
          this.#moveTo(part.through, part.cursor)
        } else {
          this.#endReplay()
          const last = batch.at(-1)
          if (last !== undefined) this.#moveTo(last.sequence, last.cursor)
        }
        const wanted = this.#wantsAll ? batch : batch.filter(({ event }) => matches(this.#filter, event))
        if (wanted.length > 0 || performance.now() >= giveUpAt) return wanted
        if (this.#sequence < this.#log.lastSequence) await this.#log.step()
        // An entry that was published between reading and falling asleep would not wake it, nor would the end.
        if (this.#sequence < this.#log.lastSequence || this.#end !== undefined) continue
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
    this.#replay ??= this.#log.replays.of(this.#client, this.#filter)
    this.#waitsSince ??= performance.now()
    this.#part ??= this.#replay.next(this.#sequence, this.#log.lastSequence)
    try {
      const part = await Promise.race([this.#part.then((found) => found ?? GONE), this.#sleep(giveUpAt)])
      if (part === undefined) return undefined
      this.#endWait()
      if (part === GONE) throw cursorUnknown()
      // Many may have waited for the same part.
      await this.#log.step()
      // The end of all subscriptions may say that the log has another history.
      return this.#end === undefined ? part : undefined
    } catch (error) {
      this.#endWait()
      if (!isConnectionError(error)) throw error
      // That is not the subscriber's fault.
      this.#behindSince = undefined
      await this.#sleep(performance.now())
      return undefined
    }
  }

  #endWait(): void {
    this.#log.sleepers.delete(this)
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
    this.#log.sleepers.add(this)
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }

  wake(): void {
    this.#log.sleepers.delete(this)
    this.#wake?.()
  }

  hasSleptEnough(now: number): boolean {
    return now >= this.#sleepsUntil
  }

  #moveTo(sequence: number, cursor: string): void {
    this.#sequence = sequence
    this.#cursor = cursor
    if (sequence >= this.#log.lastSequence) this.#behindSince = undefined
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
    this.#endReplay()
    this.#log.onEnded(this)
    this.#onEnd?.()
    this.#ended?.abort(reason)
    this.wake()
  }
}

/** A database that is away is asked again; everything else ends the subscription. */
function isConnectionError(error: unknown): boolean {
  return error instanceof ServiceError && error.reason === 'DATABASE_UNAVAILABLE'
}

export function cursorUnknown(): ServiceError {
  return new ServiceError(
    'CURSOR_UNKNOWN',
    'This cursor does not belong to the event log, or the events after it are no longer kept.',
  )
}
