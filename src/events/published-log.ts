import type { LogEntry, StreamEvent } from '../../packages/protocol/src/orders/event.js'
import type { EventStore, LogState } from '../store/events/event-store.js'
import { type Cursors, createCursors, type Position } from './cursors.js'
import { type Batch, createTailBuffer, type Entry } from './tail-buffer.js'

/** The id of a log and its end. */
export interface LogEnd extends LogState {
  /** The last entries, which are kept in memory from the start. A log that is not empty has one at least. */
  readonly recent?: readonly LogEntry[]
}

const NOTHING: Batch = []

/** The log up to the last published entry, with its last entries in memory. Subscribers receive no entry after its end. */
export class PublishedLog {
  readonly #onEvent: (event: StreamEvent) => void
  readonly #recent = createTailBuffer()
  #cursors: Cursors
  #end: Position

  /** @param onEvent called with each event before it is published, but not with those before `end` */
  constructor(end: LogEnd, onEvent: (event: StreamEvent) => void) {
    this.#onEvent = onEvent
    this.#cursors = createCursors(end.logId)
    this.#end = this.#keep(end)
  }

  get end(): Position {
    return this.#end
  }

  /** The cursors of this log. They change with its id. */
  get cursors(): Cursors {
    return this.#cursors
  }

  toEntry({ sequence, event, digest }: LogEntry): Entry {
    return { sequence, event, cursor: this.#cursors.write({ sequence, digest }) }
  }

  /** The entries after a sequence, if they are in memory; empty at the end of the log. */
  after(sequence: number): Batch | undefined {
    return sequence >= this.#end.sequence ? NOTHING : this.#recent.after(sequence)
  }

  /** The cursor of a sequence, if it is known without a read. */
  cursorAt(sequence: number): string | undefined {
    return sequence === 0
      ? this.#cursors.write({ sequence, digest: undefined })
      : this.#recent.at(sequence)?.cursor
  }

  /**
   * The entries of a page after the last published entry.
   * @param page the log from that entry on, or from its beginning when nothing was published
   * @returns undefined when the log has another entry there, or none, and so another history
   */
  newIn(page: readonly LogEntry[]): readonly LogEntry[] | undefined {
    const [same, ...news] = page
    const { sequence, cursor } = this.#end
    if (sequence === 0) return page
    if (same === undefined || same.sequence !== sequence) return undefined
    return this.toEntry(same).cursor === cursor ? news : undefined
  }

  /** Publishes entries that follow the last one. */
  append(logEntries: readonly LogEntry[]): void {
    this.#report(logEntries)
    const added = logEntries.map((entry) => this.toEntry(entry))
    this.#recent.add(added)
    this.#end = added.at(-1) ?? this.#end
  }

  /** Continues from the end of a log with another history, whose last entries may be new. */
  startOver(end: LogEnd): void {
    this.#report(end.recent ?? [])
    this.#cursors = createCursors(end.logId)
    this.#end = this.#keep(end)
  }

  /** Subscribers receive no entry whose order is not invalidated yet (see `onEvent` of the event log). */
  #report(logEntries: readonly LogEntry[]): void {
    for (const { event } of logEntries) this.#onEvent(event)
  }

  /** Keeps the last entries of a log in memory. @returns its end */
  #keep({ lastSequence, recent = [] }: LogEnd): Position {
    this.#recent.clear()
    this.#recent.add(recent.map((entry) => this.toEntry(entry)))
    const beginning = this.#cursors.write({ sequence: lastSequence, digest: undefined })
    return { sequence: lastSequence, cursor: this.#recent.at(lastSequence)?.cursor ?? beginning }
  }
}

/** Reads the end of a log. @param keptEntries most entries of `recent` */
export async function readEnd(
  { readState, readAfter }: EventStore,
  keptEntries: number,
): Promise<LogEnd & { readonly recent: readonly LogEntry[] }> {
  const state = await readState()
  const entries = await readAfter(Math.max(0, state.lastSequence - keptEntries), keptEntries)
  return { ...state, recent: entries.filter(({ sequence }) => sequence <= state.lastSequence) }
}
