import { linkSignal } from './abort.js'
import { AggregatorError } from './aggregator-error.js'
import { LONGEST_TIMER_MS } from './retry-delay.js'

export interface TimeoutOptions {
  /** Longest wait, in milliseconds. */
  readonly ms: number
  /** The caller's signal. One of `AbortSignal.timeout` is a time-out too. */
  readonly signal: AbortSignal | undefined
  /** The sentence of a time-out. */
  readonly message: string
}

/**
 * Ends work when its time is over or its caller aborts it.
 * @param work throws when its signal aborts
 * @throws AggregatorError TIMED_OUT or CANCELLED; else what the work throws
 */
export async function withTimeout<T>(
  { ms, signal: cancelled, message }: TimeoutOptions,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const ending = new AbortController()
  const unlink = linkSignal(cancelled, ending)
  const timer = setTimeout(() => ending.abort(), Math.min(ms, LONGEST_TIMER_MS))
  try {
    return await work(ending.signal)
  } catch (thrown) {
    const options = { cause: thrown }
    if (cancelled?.aborted && cancelled.reason?.name !== 'TimeoutError')
      throw new AggregatorError('CANCELLED', 'The call was cancelled.', options)
    if (ending.signal.aborted) throw new AggregatorError('TIMED_OUT', message, options)
    throw thrown
  } finally {
    clearTimeout(timer)
    unlink()
  }
}
