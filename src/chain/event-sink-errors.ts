import type { EventSink } from './event-sink.js'

/** The database could not be written or read; `cause` is its own error. */
export class EventSinkError extends Error {
  override readonly name = 'EventSinkError'
}

const READS: readonly string[] = ['open', 'eventBlocks', 'knownSolvers'] satisfies (keyof EventSink)[]

/**
 * Wraps an event sink, so that its methods throw EventSinkError.
 * @param onFailedWrite called after each failed write, which may have reached the database nevertheless
 */
export function withEventSinkErrors(sink: EventSink, onFailedWrite: () => void): EventSink {
  const wrapped = Object.entries(sink).map(([name, method]) => [
    name,
    (...args: unknown[]) =>
      method(...args).catch((cause: unknown) => {
        if (!READS.includes(name)) onFailedWrite()
        throw new EventSinkError(String(cause), { cause })
      }),
  ])
  return Object.fromEntries(wrapped)
}
