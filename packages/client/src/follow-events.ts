import type { StreamEventsResponse } from '../../../gen/aggregator/v1/event_pb.js'
import { readInteger } from './answer-fields.js'
import { AggregatorError, toAggregatorError } from './errors.js'
import { type EventFilter, type OrderEvent, readEvent } from './events.js'
import { isPassing, pause, pauseMs } from './retry.js'

export interface StreamOptions {
  /** Ends the stream, without an error. */
  readonly signal?: AbortSignal | undefined
  /** Told each time that the stream is open: nothing that happens from then on is missed. */
  readonly onConnected?: ((opening: Opening) => void) | undefined
  /** Told each time that the connection is lost, or cannot be made, before it is tried again. */
  readonly onLost?: ((error: AggregatorError) => void) | undefined
}

/** What the instance says first. */
export interface Opening {
  readonly supportedChains: readonly number[]
  /** The stream's place. */
  readonly cursor: string
}

/** How the streams are followed, beside what an app may choose. */
export interface FollowOptions extends StreamOptions {
  /** The caller reads the state itself at each opening: it needs no place in the log, and goes on without one that is lost. */
  readonly isPlaceOptional?: boolean
}

/** Opens one stream of messages. */
export type OpenStream = (filter: EventFilter, signal: AbortSignal) => AsyncIterable<StreamEventsResponse>

/** What is told of a stream: that it is open (again), or an event. */
export type Notice = { readonly type: 'connected' } | OrderEvent

/** Three times as long as an instance leaves a stream without a sign of life. */
const SILENCE_MS = 45_000

/**
 * Follows the events over as many streams as it takes, each taken up where the last one was lost.
 * @throws AggregatorError what cannot get better by trying again
 */
export async function* followEvents(
  open: OpenStream,
  filter: EventFilter,
  options: FollowOptions,
): AsyncGenerator<Notice, void, void> {
  const { signal = new AbortController().signal, onConnected, onLost, isPlaceOptional = false } = options
  let after = filter.after
  let failures = 0
  while (!signal.aborted) {
    try {
      for await (const message of untilSilent((ending) => open({ ...filter, after }, ending), signal)) {
        after = message.cursor ?? after
        const event = readEvent(message)
        if (message.event.case === 'connected') {
          failures = 0
          const supportedChains = message.event.value.supportedChains.map(readInteger)
          onConnected?.({ supportedChains, cursor: after ?? '' })
          yield { type: 'connected' }
        } else if (event !== undefined) yield event
      }
      throw new AggregatorError('CONNECTION_FAILED', 'The instance has ended the stream.')
    } catch (thrown) {
      if (signal.aborted) return
      const error = toAggregatorError(thrown)
      const isPlaceLost = isPlaceOptional && error.reason === 'CURSOR_UNKNOWN' && after !== filter.after
      if (isPlaceLost) after = filter.after
      else if (!isPassing(error)) throw error
      onLost?.(error)
      await pause(pauseMs(++failures, error, Math.random()), signal)
    }
  }
}

/** Passes messages on; a stream on which nothing comes for too long is dead, though nobody has said so. */
async function* untilSilent<T>(
  open: (signal: AbortSignal) => AsyncIterable<T>,
  signal: AbortSignal,
): AsyncGenerator<T, void, void> {
  const silence = new AbortController()
  const messages = open(AbortSignal.any([signal, silence.signal]))[Symbol.asyncIterator]()
  try {
    for (;;) {
      const timer = setTimeout(() => silence.abort(), SILENCE_MS)
      const next = await messages.next().finally(() => clearTimeout(timer))
      if (next.done) return
      yield next.value
    }
  } catch (error) {
    if (!silence.signal.aborted) throw error
    throw new AggregatorError('CONNECTION_FAILED', 'The stream has gone silent.', { cause: error })
  } finally {
    silence.abort()
  }
}
