import type { EventSink } from './event-sink.js'

/** The database could not be written or read; `cause` is its own error. */
export class EventSinkError extends Error {
  override readonly name = 'EventSinkError'
}

/**
 * Wraps an event sink, so that its methods throw EventSinkError.
 * @param onFailedWrite called after each failed write, which may have reached the database nevertheless
 */
export function withEventSinkErrors(
  { open, eventBlocks, knownSolvers, ...writes }: EventSink,
  onFailedWrite: () => void,
): EventSink {
  const write =
    <A extends unknown[], R>(method: (...args: A) => Promise<R>) =>
    (...args: A) =>
      method(...args).catch((error) => {
        onFailedWrite()
        return fail(error)
      })
  return {
    open: () => open().catch(fail),
    eventBlocks: (below, limit) => eventBlocks(below, limit).catch(fail),
    knownSolvers: (orderIds) => knownSolvers(orderIds).catch(fail),
    begin: write(writes.begin),
    append: write(writes.append),
    appendMissing: write(writes.appendMissing),
    revert: write(writes.revert),
  }
}

function fail(cause: unknown): never {
  throw new EventSinkError(String(cause), { cause })
}
