import { ServiceError } from '../../packages/protocol/src/errors.js'
import { type EventFilter, matches } from '../../packages/protocol/src/orders/event.js'
import { type ClientId, THIS_PROCESS } from '../clients/client-id.js'
import type { StartPosition } from './cursors.js'
import type { PublishedLog } from './published-log.js'
import type { QueuedRead } from './read-queue.js'
import type { LogPart, Replays } from './replays.js'
import { Pace } from './subscriber-pace.js'
import type { SubscriberTurns, WaitingSubscriber } from './subscriber-turns.js'
import type { Batch } from './tail-buffer.js'

/** One subscriber's position in the log: first the events after its cursor, then new ones. */
export type Subscription = Pick<Subscriber, 'cursor' | 'next' | 'ended' | 'close'>

/** Options of a subscription. */
export interface SubscriberOptions {
  /** The client whose replays count together; the process itself when absent. */
  readonly client?: ClientId
  /** Called once, when the subscription has ended for any reason. */
  readonly onEnd?: () => void
}

/** The log, as its subscribers use it. */
export interface SubscribedLog {
  readonly published: PublishedLog
  readonly replays: Replays
  /** The beginning of the log when the entry after a sequence is no longer kept, as a part without entries. */
  readBeginning(client: ClientId, after: number): Promise<LogPart>
  readonly turns: SubscriberTurns
  /** Milliseconds that never go back. */
  monotonic(): number
  /** Called once. */
  onEnded(subscriber: Subscriber): void
}

/** Time after which a subscriber without events gets an empty result, at the next check. */
const SILENCE_MS = 15_000

/** Stands for a part of the log that is no longer kept. */
const GONE: LogPart = { entries: [], through: 0, cursor: '' }

/** Reads the log at its own pace: from the database, from memory, then live. */
export class Subscriber implements WaitingSubscriber {
  readonly pace: Pace
  readonly #log: SubscribedLog
  readonly #filter: EventFilter
  readonly #wantsAll: boolean
  readonly #client: ClientId
  readonly #onEnd: (() => void) | undefined
  #sequence: number
  #cursor: string
  /** Until the first move of a subscriber that wants the log from its beginning, wherever that is. */
  #isAtBeginning: boolean
  /** A requested part of the log. It stays requested when `next` returns an empty result meanwhile. */
  #part: QueuedRead<LogPart | undefined> | undefined
  #end: { readonly reason: unknown } | undefined
  /** Created on the first use, because it is large and most subscribers only wait. */
  #ended: AbortController | undefined
  #wake: (() => void) | undefined
  #waitsUntil = 0

  constructor(
    log: SubscribedLog,
    { sequence, cursor, isBeginning = false }: StartPosition,
    filter: EventFilter,
    { client, onEnd }: SubscriberOptions,
  ) {
    this.#log = log
    this.pace = new Pace(log.monotonic)
    this.#client = client ?? THIS_PROCESS
    this.#onEnd = onEnd
    this.#sequence = sequence
    this.#cursor = cursor
    this.#isAtBeginning = isBeginning
    this.#filter = filter
    this.#wantsAll = Object.values(filter).every(({ size }) => size === 0)
  }

  /** Aborts with the error of `next` when the subscription has ended, also while no call of `next` waits. */
  get ended(): AbortSignal {
    this.#ended ??= new AbortController()
    if (this.#end !== undefined) this.#ended.abort(this.#end.reason)
    return this.#ended.signal
  }

  /** The cursor of the last event that it has read past. */
  cursor(): string {
    return this.#cursor
  }

  /**
   * The next events that pass the filter, requested after the last ones have been sent. The result is empty when nothing
   * has come for a while, so that the caller can send a keep-alive. It is one function, because each waiting async function
   * takes memory, and thousands may wait here.
   * @param until when it is empty at the latest, on the hub's clock
   * @throws ServiceError CURSOR_UNKNOWN, SUBSCRIBER_TOO_SLOW or SHUTTING_DOWN, or the reason of `close`: the subscription
   * has ended
   */
  async next(until = Number.POSITIVE_INFINITY): Promise<Batch> {
    this.pace.request()
    const giveUpAt = Math.min(until, this.#log.monotonic() + SILENCE_MS)
    try {
      for (;;) {
        if (this.#end !== undefined) throw this.#end.reason
        let batch = this.#log.published.after(this.#sequence)
        if (batch === undefined) {
          const part = await this.#readLog(giveUpAt)
          if (part === undefined) {
            if (this.#log.monotonic() >= giveUpAt) return []
            continue
          }
          batch = part.entries
          this.#moveTo(part.through, part.cursor)
        } else {
          const last = batch.at(-1)
          if (last !== undefined) this.#moveTo(last.sequence, last.cursor)
        }
        const wanted = this.#wantsAll ? batch : batch.filter(({ event }) => matches(this.#filter, event))
        if (wanted.length > 0 || this.#log.monotonic() >= giveUpAt) return wanted
        if (this.#sequence < this.#log.published.end.sequence) await this.#log.turns.step()
        // Continues: an entry or an end between the read and the wait would not wake it.
        if (this.#sequence < this.#log.published.end.sequence || this.#end !== undefined) continue
        this.pace.catchUp()
        await this.#wait(giveUpAt)
      }
    } catch (error) {
      this.close(error)
      throw this.#end?.reason ?? error
    } finally {
      this.pace.receive()
    }
  }

  /** The next part of the log; undefined when it has not come in time, or while the database is unavailable. */
  async #readLog(giveUpAt: number): Promise<LogPart | undefined> {
    this.pace.startWait()
    const { published, replays, turns } = this.#log
    this.#part ??= replays.read(this.#client, this.#filter, this.#sequence, published.end.sequence)
    const { answer } = this.#part
    try {
      const part = await Promise.race([answer.then((found) => found ?? GONE), this.#wait(giveUpAt)])
      if (part === undefined) return undefined
      this.#endWait()
      if (part === GONE && !this.#isAtBeginning) throw cursorUnknown()
      if (part === GONE) return await this.#log.readBeginning(this.#client, this.#sequence)
      // Many subscribers may have waited for the same part.
      await turns.step()
      // The end of all subscriptions may mean that the log has another history.
      return this.#end === undefined ? part : undefined
    } catch (error) {
      this.#endWait()
      if (!isDatabaseUnavailable(error)) throw error
      this.pace.excuse()
      await this.#wait(this.#log.monotonic())
      return undefined
    }
  }

  #endWait(): void {
    this.#log.turns.delete(this)
    this.#part = undefined
    this.pace.endWait()
  }

  /** Resolves when there may be new entries, when the time has come, or at the end. */
  #wait(until: number): Promise<void> {
    this.#waitsUntil = until
    this.#log.turns.add(this)
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }

  wake(): void {
    this.#log.turns.delete(this)
    this.#wake?.()
  }

  isDue(now: number): boolean {
    return now >= this.#waitsUntil
  }

  #moveTo(sequence: number, cursor: string): void {
    this.#sequence = sequence
    this.#cursor = cursor
    this.#isAtBeginning = false
    this.pace.move(sequence >= this.#log.published.end.sequence)
  }

  /** Ends the subscription for the subscriber. @param reason the error of `next` from then on */
  close(reason: unknown = new Error('the subscriber has closed the subscription')): void {
    if (this.#end !== undefined) return
    this.#end = { reason }
    this.#part?.cancel()
    this.#log.onEnded(this)
    this.#onEnd?.()
    this.#ended?.abort(reason)
    this.wake()
  }
}

/** An unavailable database is read again later. Every other error ends the subscription. */
function isDatabaseUnavailable(error: unknown): boolean {
  return error instanceof ServiceError && error.reason === 'DATABASE_UNAVAILABLE'
}

export function cursorUnknown(): ServiceError {
  return new ServiceError(
    'CURSOR_UNKNOWN',
    'This cursor does not belong to the event log, or the events after it are no longer kept.',
  )
}
