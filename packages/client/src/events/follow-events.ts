import type { AggregatorError } from '../calls/aggregator-error.js'
import { reconnect } from '../streams/reconnect.js'
import { untilSilent } from '../streams/silence.js'
import type { EventFilter } from './event-filter.js'
import type { OrderEvent, StreamMessage } from './order-events.js'

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
  const { signal = new AbortController().signal, onConnected, onLost, isStreamOptional } = options
  let after = filter.after
  const openNext = () => {
    const from = after === undefined ? filter : { ...filter, after }
    return untilSilent((ending) => open(from, ending), signal)
  }
  const isSuccess = ({ event }: StreamMessage) => event?.type === 'connected'
  for await (const message of reconnect(openNext, { signal, isSuccess, isOptional: isStreamOptional })) {
    if ('error' in message) {
      if (message.error.reason === 'CURSOR_UNKNOWN') after = filter.after
      onLost?.(message.error)
      if (!signal.aborted) yield { type: 'disconnected' }
      continue
    }
    const { id, event } = message
    after = event?.cursor ?? id ?? after
    if (event?.type === 'connected') {
      onConnected?.({ supportedChains: event.supportedChains, cursor: event.cursor })
      yield { type: 'connected' }
    } else if (event !== undefined) yield event
  }
}
