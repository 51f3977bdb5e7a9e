import { AggregatorError, notAnAggregator } from './errors.js'
import { type EventFilter, type OrderEvent, readEvent } from './events.js'
import { isRetryable, pause, pauseMs } from './retry.js'
import type { ServerSentEvent } from './sse.js'

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

/** Opens one stream. */
export type OpenStream = (filter: EventFilter, signal: AbortSignal) => AsyncIterable<ServerSentEvent>

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
      const from = after === undefined ? filter : { ...filter, after }
      for await (const { id, data } of untilSilent((ending) => open(from, ending), signal)) {
        after = id ?? after
        const event = data === '' ? undefined : readEvent(parseEvent(data))
        if (event === undefined) continue
        after = event.cursor
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
      const isPlaceLost = isPlaceOptional && thrown.reason === 'CURSOR_UNKNOWN' && after !== filter.after
      if (isPlaceLost) after = filter.after
      else if (!isRetryable(thrown)) throw thrown
      onLost?.(thrown)
      await pause(pauseMs(++failures, thrown, Math.random()), signal)
    }
  }
}

function parseEvent(data: string): object {
  try {
    const value: unknown = JSON.parse(data)
    if (typeof value === 'object' && value !== null) return value
  } catch {
    // The error below covers it.
  }
  throw notAnAggregator('an event that is not a JSON object')
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
