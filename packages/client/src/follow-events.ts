import { AggregatorError } from './errors.js'
import type { EventFilter } from './event-filter.js'
import type { OrderEvent, StreamMessage } from './events.js'
import { isRetryable, pause, retryDelay } from './retry.js'
import { untilSilent } from './silence.js'

export interface StreamOptions {
  /** Ends the stream, without an error. */
  readonly signal?: AbortSignal | undefined
  /** Called each time that the stream is open. From then on it misses nothing. */
  readonly onConnected?: ((opening: Opening) => void) | undefined
  /** Called each time that the connection is lost or cannot be made, before the next attempt. */
  readonly onLost?: ((error: AggregatorError) => void) | undefined
}

/** The first message of a stream. */
export interface Opening {
  readonly supportedChains: readonly number[]
  /** The stream's place. */
  readonly cursor: string
}

/** The options of `followEvents`; an app has those of `StreamOptions`. */
export interface FollowOptions extends StreamOptions {
  /**
   * The caller reads the state itself at each notice. It goes on without a place in the log. While it cannot have a stream, each
   * attempt gives a notice, so that it polls.
   */
  readonly isStreamOptional?: boolean
}

/** Opens one stream. @throws AggregatorError, while it is iterated */
export type OpenStream = (filter: EventFilter, signal: AbortSignal) => AsyncIterable<StreamMessage>

/** An event, or a change of the connection. */
export type Notice = { readonly type: 'connected' } | { readonly type: 'disconnected' } | OrderEvent

/**
 * Follows the events over as many streams as necessary. Each begins where the last one was lost.
 * @throws AggregatorError that another attempt cannot mend, unless the stream is optional
 */
export async function* followEvents(
  open: OpenStream,
  filter: EventFilter,
  options: FollowOptions,
): AsyncGenerator<Notice, void, void> {
  const { signal = new AbortController().signal, onConnected, onLost, isStreamOptional = false } = options
  let after = filter.after
  let failures = 0
  // An opening does not end these: a stream may open each time, and then send what this client cannot read.
  let refusals = 0
  while (!signal.aborted) {
    try {
      const from = after === undefined ? filter : { ...filter, after }
      for await (const { id, event } of untilSilent((ending) => open(from, ending), signal)) {
        after = event?.cursor ?? id ?? after
        if (event === undefined) continue
        if (event.type === 'connected') {
          failures = 0
          onConnected?.({ supportedChains: event.supportedChains, cursor: event.cursor })
          yield { type: 'connected' }
        } else yield event
      }
      throw new AggregatorError('CONNECTION_FAILED', 'The instance has ended the stream.')
    } catch (thrown) {
      if (signal.aborted) return
      if (!(thrown instanceof AggregatorError)) throw thrown
      const isRefusal = !isRetryable(thrown)
      if (isRefusal && !isStreamOptional) throw thrown
      if (thrown.reason === 'CURSOR_UNKNOWN') after = filter.after
      onLost?.(thrown)
      if (!signal.aborted) yield { type: 'disconnected' }
      await pause(retryDelay(isRefusal ? refusals++ : failures++, thrown), signal)
    }
  }
}
