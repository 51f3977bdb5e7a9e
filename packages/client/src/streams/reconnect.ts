import { AggregatorError } from '../calls/aggregator-error.js'
import { isRetryable, pause, retryDelay } from '../calls/retry-delay.js'

export interface ReconnectOptions<T> {
  /** Ends all streams, without an error. */
  readonly signal: AbortSignal
  /** Whether a message shows that the instance works, so that the pauses begin short again. */
  readonly isSuccess: (message: T) => boolean
  /** Whether to go on after errors that another attempt does not change. */
  readonly isOptional?: boolean | undefined
}

/** The end of a stream. The next one is opened after a pause. */
export interface Lost {
  readonly type: 'lost'
  readonly error: AggregatorError
}

/**
 * Passes on the messages of as many streams as necessary, one after the other, with the end of each.
 * @param open opens one stream
 * @throws AggregatorError that another attempt cannot mend, unless the stream is optional
 */
export async function* reconnect<T>(
  open: () => AsyncIterable<T>,
  { signal, isSuccess, isOptional = false }: ReconnectOptions<T>,
): AsyncGenerator<T | Lost, void, void> {
  let failures = 0
  // A success does not end these: a stream may open each time, and then send what this client cannot read.
  let refusals = 0
  while (!signal.aborted) {
    try {
      for await (const message of open()) {
        if (isSuccess(message)) failures = 0
        yield message
      }
      throw new AggregatorError('CONNECTION_FAILED', 'The instance has ended the stream.')
    } catch (error) {
      if (signal.aborted) return
      if (!(error instanceof AggregatorError)) throw error
      const isRefusal = !isRetryable(error)
      if (isRefusal && !isOptional) throw error
      yield { type: 'lost', error }
      await pause(retryDelay(isRefusal ? refusals++ : failures++, error), signal)
    }
  }
}
