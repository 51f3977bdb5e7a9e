import { check, durationProblem } from '../calls/check-arguments.js'
import { LONGEST_TIMER_MS } from '../calls/retry-delay.js'
import { withTimeout } from '../calls/timeout.js'
import type { KnownOrder } from './read-order.js'
import { isFinal, type OrderSource, watchOrder } from './watch-order.js'

export interface WaitForOrderOptions {
  /** Cancels the wait. One of `AbortSignal.timeout` makes it TIMED_OUT. */
  readonly signal?: AbortSignal | undefined
  /** Longest wait, in milliseconds; 24 days when left out. An order that nobody deposits stays NONE. */
  readonly timeoutMs?: number | undefined
}

/** Watches an order until it is SETTLED or REFUNDED. @throws AggregatorError */
export async function waitForOrder(source: OrderSource, options: WaitForOrderOptions): Promise<KnownOrder> {
  const { signal, timeoutMs: ms = LONGEST_TIMER_MS } = options
  check({ timeoutMs: durationProblem(ms) })
  return withTimeout({ ms, signal, message: 'The order has not ended in time.' }, async (ending) => {
    for await (const order of watchOrder(source, { signal: ending })) if (isFinal(order)) return order
    throw ending.reason
  })
}
