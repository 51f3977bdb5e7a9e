import type { LogEntry } from '../domain/event.js'
import type { EventStore } from '../store/event-store.js'
import type { Hub } from './hub.js'

/** Publishes the entries of the log in their order, whichever replica has written them. */
export interface Publisher {
  /**
   * Writes entries and publishes them. Writes run one after the other.
   * @returns the entries that were written
   */
  write(entries: () => Promise<LogEntry[]>): Promise<LogEntry[]>
  /** Publishes the entries of the log that are not published yet. */
  catchUp(): Promise<void>
  /** @returns after all current work has ended */
  idle(): Promise<unknown>
}

type PublishedLog = Pick<Hub, 'lastSequence' | 'newIn' | 'publish'>

const PAGE = 500

interface PublisherOptions {
  readonly hub: PublishedLog
  readonly readAfter: EventStore['readAfter']
  /** Called with entries of other replicas, before subscribers receive them. */
  readonly onRead: (logEntries: readonly LogEntry[]) => void
  /** Whether the database has a log with another id than the published one. Called while there are no entries. */
  readonly isOtherLog: () => Promise<boolean>
  /** Called when the log lacks the last published entry, and so has another history. */
  readonly onOtherHistory: () => Promise<void>
}

/** Builds the publisher of a log. Each read of the log includes the last published entry again. */
export function createPublisher(options: PublisherOptions): Publisher {
  const { hub, readAfter, onRead, isOtherLog, onOtherHistory } = options
  /** The last piece of work, successful or not. */
  let last: Promise<unknown> = Promise.resolve()
  /** A read of the log that has not begun. All calls in the meantime share it. */
  let nextReading: Promise<void> | undefined

  function enqueue<T>(work: () => Promise<T>): Promise<T> {
    const result = last.then(work)
    last = result.catch(() => {})
    return result
  }

  async function readOn(): Promise<void> {
    if (hub.lastSequence() === 0 && (await isOtherLog())) return onOtherHistory()
    for (;;) {
      const page = await readAfter(Math.max(0, hub.lastSequence() - 1), PAGE)
      const news = hub.newIn(page)
      if (news === undefined) return onOtherHistory()
      onRead(news)
      hub.publish(news)
      if (page.length < PAGE) return
    }
  }

  return {
    write: (entries) =>
      enqueue(async () => {
        const logEntries = await entries()
        const sequence = logEntries[0]?.sequence
        if (sequence === hub.lastSequence() + 1) hub.publish(logEntries)
        // Entries of other replicas come before them, or the log has another history.
        else if (sequence !== undefined) await readOn()
        return logEntries
      }),
    catchUp() {
      nextReading ??= enqueue(() => {
        nextReading = undefined
        return readOn()
      })
      return nextReading
    },
    idle: () => last,
  }
}
