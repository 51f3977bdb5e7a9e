import type { EventSink } from './event-sink.js'

/** The database could not be written or read; `cause` is its own error. */
export class EventSinkError extends Error {
  override readonly name = 'EventSinkError'
}

/**
 * Wraps an event sink, so that its methods throw EventSinkError.
 * @param onFailedWrite called after each failed write, which may have reached the database nevertheless
 */
export function withEventSinkErrors(sink: EventSink, onFailedWrite: () => void): EventSink {
  function read<Args extends unknown[], R>(method: (...args: Args) => Promise<R>) {
    return (...args: Args) =>
      method(...args).catch((cause: unknown) => {
        throw new EventSinkError(String(cause), { cause })
      })
  }

  function write<Args extends unknown[], R>(method: (...args: Args) => Promise<R>) {
    const attempt = read(method)
    return (...args: Args) =>
      attempt(...args).catch((error: unknown) => {
        onFailedWrite()
        throw error
      })
  }

  return {
    open: read(sink.open),
    eventBlocks: read(sink.eventBlocks),
    knownSolvers: read(sink.knownSolvers),
    begin: write(sink.begin),
    append: write(sink.append),
    appendMissing: write(sink.appendMissing),
    revert: write(sink.revert),
  }
}
