import { linkSignal } from '../calls/abort.js'
import { AggregatorError } from '../calls/aggregator-error.js'

/** An instance sends its first bytes at once. */
const OPENING_MS = 10_000
/** Three times the interval of an instance's heartbeats. */
const SILENCE_MS = 45_000

/**
 * Passes messages on, and ends a stream that is silent for too long: its connection is lost without a sign.
 * @param open opens the stream; its heartbeats are messages too
 * @throws AggregatorError CONNECTION_FAILED after a silence
 */
export async function* untilSilent<T>(
  open: (signal: AbortSignal) => AsyncIterable<T>,
  signal: AbortSignal,
): AsyncGenerator<T, void, void> {
  const ending = new AbortController()
  const unlink = linkSignal(signal, ending)
  let patienceMs = OPENING_MS
  let isSilent = false
  try {
    const messages = open(ending.signal)[Symbol.asyncIterator]()
    for (;;) {
      const timer = setTimeout(() => {
        isSilent = true
        ending.abort()
      }, patienceMs)
      const next = await messages.next().finally(() => clearTimeout(timer))
      if (next.done) return
      yield next.value
      patienceMs = SILENCE_MS
    }
  } catch (error) {
    if (!isSilent) throw error
    throw new AggregatorError('CONNECTION_FAILED', 'The stream has gone silent.', { cause: error })
  } finally {
    unlink()
    ending.abort()
  }
}
