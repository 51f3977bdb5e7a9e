import type { LogEntry } from '../domain/event.js'
import type { EventStore } from '../store/event-store.js'
import type { Hub } from './hub.js'

/** Tells subscribers what is in the log, in its order, whichever replica has written it. */
export interface Publisher {
  /**
   * Writes entries and tells of them: one write follows the other.
   * @returns what was written
   */
  write(entries: () => Promise<LogEntry[]>): Promise<LogEntry[]>
  /** Tells of what is in the log by now, as far as it has not been told. */
  catchUp(): Promise<void>
  /** @returns once nothing is being written or told */
  idle(): Promise<unknown>
}

type Published = Pick<Hub, 'lastSequence' | 'newIn' | 'publish'>

const PAGE = 500

interface PublisherOptions {
  readonly hub: Published
  readonly readAfter: EventStore['readAfter']
  /** Called with entries that others have written, before subscribers get them. */
  readonly onRead: (logEntries: readonly LogEntry[]) => void
  /** Whether the database has a log with another id than the one that is published; read while there are no entries. */
  readonly isOtherLog: () => Promise<boolean>
  /** Called when the log does not have the last entry that was published: it has another history. */
  readonly onOtherHistory: () => Promise<void>
}

/** Builds the publisher of a log. Each time that it reads the log, it reads the last published entry again. */
export function createPublisher(options: PublisherOptions): Publisher {
  const { hub, readAfter, onRead, isOtherLog, onOtherHistory } = options
  /** The last piece of work, done or failed. */
  let last: Promise<unknown> = Promise.resolve()
  /** A reading of the log that has not begun yet: it is for all who ask meanwhile. */
  let nextReading: Promise<void> | undefined

  function afterTheLast<T>(work: () => Promise<T>): Promise<T> {
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
      afterTheLast(async () => {
        const logEntries = await entries()
        const sequence = logEntries[0]?.sequence
        if (sequence === hub.lastSequence() + 1) hub.publish(logEntries)
        // Entries of other replicas are before them, or the log has another history.
        else if (sequence !== undefined) await readOn()
        return logEntries
      }),
    catchUp() {
      nextReading ??= afterTheLast(() => {
        nextReading = undefined
        return readOn()
      })
      return nextReading
    },
    idle: () => last,
  }
}
