import type { SessionOrderEvent } from './session-messages.js'

/** Where events come from: a connection, which can wait. */
export interface EventSource {
  pause(): void
  resume(): void
}

interface WaitingEvent {
  readonly source: EventSource
  readonly event: SessionOrderEvent
  readonly cursor: string
}

/** From so many on, the source is paused. What it has sent in one piece before (64 KiB) may still be added. */
const MANY_EVENTS = 100

/** Builds a queue of the events of all connections of a session, which are processed one after the other. @param processEvent must not reject */
export function createEventQueue(processEvent: (event: SessionOrderEvent, cursor: string) => Promise<void>) {
  let waiting: WaitingEvent[] = []
  const paused = new Set<EventSource>()
  let processing: Promise<void> | undefined
  let isClosed = false

  async function processAll(): Promise<void> {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      await processEvent(next.event, next.cursor)
      resumeSources()
    }
    processing = undefined
  }

  function resumeSources(): void {
    if (waiting.length >= MANY_EVENTS) return
    for (const source of paused) source.resume()
    paused.clear()
  }

  return {
    /** Adds an event. Its source is paused when many events wait, until fewer do. */
    add(source: EventSource, event: SessionOrderEvent, cursor: string): void {
      if (isClosed) return
      waiting.push({ source, event, cursor })
      if (waiting.length >= MANY_EVENTS && !paused.has(source)) {
        paused.add(source)
        source.pause()
      }
      processing ??= processAll()
    },
    /** Drops the waiting events of a connection that has ended: the next one begins after the last processed event. */
    drop(source: EventSource): void {
      waiting = waiting.filter((one) => one.source !== source)
      paused.delete(source)
      resumeSources()
    },
    /** Drops all that wait and that come. @returns when the event that is being processed has ended */
    async close(): Promise<void> {
      isClosed = true
      waiting = []
      await processing
    },
  }
}
