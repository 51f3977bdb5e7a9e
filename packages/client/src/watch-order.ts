import type { Order } from '../../../src/domain/order.js'
import { AggregatorError } from './errors.js'
import type { Notice, StreamOptions } from './follow-events.js'
import { isRetryable, pause, pauseMs } from './retry.js'

export interface WatchOrderOptions extends Pick<StreamOptions, 'signal' | 'onLost'> {
  /**
   * How long SETTLED or REFUNDED has to stand before the watch ends, in milliseconds; 30000 when left out, more than two
   * blocks of the slowest chains. 0 ends it at once.
   */
  readonly finalAfterMs?: number | undefined
}

interface OrderSource {
  readonly follow: (options: StreamOptions) => AsyncIterable<Notice>
  readonly read: (signal: AbortSignal) => Promise<Order>
}

const FINAL_AFTER_MS = 30_000

/**
 * Reads the order anew whenever something has happened to it, so that what is told is always the contract's own answer: a
 * reversion needs no rule of its own, and two changes at once are told as one.
 */
export async function* watchOrder(
  source: OrderSource,
  options: WatchOrderOptions,
): AsyncGenerator<Order, void, void> {
  const { finalAfterMs = FINAL_AFTER_MS, onLost } = options
  const ending = new AbortController()
  const signal =
    options.signal === undefined ? ending.signal : AbortSignal.any([options.signal, ending.signal])
  let last: Order | undefined
  let finality: ReturnType<typeof setTimeout> | undefined
  try {
    for await (const _notice of source.follow({ signal, onLost })) {
      const order = await readPersistently(source, signal, onLost)
      if (order === undefined) return
      if (order.state === last?.state) continue
      last = order
      clearTimeout(finality)
      if (isFinal(order)) finality = setTimeout(() => ending.abort(), finalAfterMs)
      yield order
      if (isFinal(order) && finalAfterMs === 0) return
    }
  } finally {
    clearTimeout(finality)
    ending.abort()
  }
}

function isFinal({ state }: Order): boolean {
  return state === 'SETTLED' || state === 'REFUNDED'
}

/** @returns undefined when the signal has ended it @throws AggregatorError what cannot get better */
async function readPersistently(
  { read }: OrderSource,
  signal: AbortSignal,
  onLost: StreamOptions['onLost'],
): Promise<Order | undefined> {
  for (let failures = 1; !signal.aborted; failures++) {
    try {
      return await read(signal)
    } catch (thrown) {
      if (signal.aborted) return undefined
      if (!(thrown instanceof AggregatorError && isRetryable(thrown))) throw thrown
      onLost?.(thrown)
      await pause(pauseMs(failures, thrown, Math.random()), signal)
    }
  }
  return undefined
}
