import type { Announcement } from '../domain/event.js'
import type { Hub } from './hub.js'

/** Tells subscribers what is in the log, in its order, whichever replica has written it. */
export interface Publisher {
  /**
   * Writes entries and tells of them: one write follows the other.
   * @returns what was written
   */
  write(entries: () => Promise<Announcement[]>): Promise<Announcement[]>
  /** Tells of what is in the log by now, as far as it has not been told. */
  catchUp(): Promise<void>
  /** @returns once nothing is being written or told */
  idle(): Promise<unknown>
}

type Told = Pick<Hub, 'lastSequence' | 'publish'>

const PAGE = 500

/**
 * Builds the publisher of a log.
 * @param onRead told of entries that others have written, before subscribers are
 */
export function createPublisher(
  hub: Told,
  readAfter: (sequence: number, limit: number) => Promise<Announcement[]>,
  onRead: (announcements: readonly Announcement[]) => void,
): Publisher {
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
    for (;;) {
      const page = await readAfter(hub.lastSequence(), PAGE)
      onRead(page)
      hub.publish(page)
      if (page.length < PAGE) return
    }
  }

  return {
    write: (entries) =>
      afterTheLast(async () => {
        const announcements = await entries()
        const sequence = announcements[0]?.sequence
        if (sequence === hub.lastSequence() + 1) hub.publish(announcements)
        // Entries of other replicas stand before them.
        else if (sequence !== undefined) await readOn()
        return announcements
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
