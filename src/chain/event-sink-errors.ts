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
  const fail = (cause: unknown): never => {
    throw new EventSinkError(String(cause), { cause })
  }
  const failWrite = (cause: unknown): never => {
    onFailedWrite()
    return fail(cause)
  }
  return {
    open: () => sink.open().catch(fail),
    eventBlocks: (...args) => sink.eventBlocks(...args).catch(fail),
    knownSolvers: (...args) => sink.knownSolvers(...args).catch(fail),
    begin: (...args) => sink.begin(...args).catch(failWrite),
    append: (...args) => sink.append(...args).catch(failWrite),
    appendMissing: (...args) => sink.appendMissing(...args).catch(failWrite),
    revert: (...args) => sink.revert(...args).catch(failWrite),
  }
}
