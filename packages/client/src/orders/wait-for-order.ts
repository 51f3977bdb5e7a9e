import { KNOWN_ORDER_STATES } from '../../../protocol/src/orders/order.js'
import { AggregatorError } from '../calls/aggregator-error.js'
import { check, durationProblem, optionProblem } from '../calls/check-arguments.js'
import { LONGEST_TIMER_MS } from '../calls/retry-delay.js'
import { withTimeout } from '../calls/timeout.js'
import type { KnownOrder, Order } from './read-order.js'
import { isFinal, type OrderSource, watchOrder } from './watch-order.js'

export interface WaitForOrderOptions {
  /**
   * The state to wait for; SETTLED or REFUNDED when left out. DEPOSITED is also reached with each later state. The wait for SETTLED
   * of an order that is REFUNDED ends with ORDER_STATE_UNREACHABLE, 30 s later, because a reorganisation may still remove the
   * refund. The same holds the other way round.
   */
  readonly until?: (typeof KNOWN_ORDER_STATES)[number] | undefined
  /** Cancels the wait. One of `AbortSignal.timeout` makes it TIMED_OUT. */
  readonly signal?: AbortSignal | undefined
  /** Longest wait, in milliseconds; 24 days when left out. An order that nobody deposits stays NONE. */
  readonly timeoutMs?: number | undefined
}

/** Watches an order until it is in a state. @throws AggregatorError */
export async function waitForOrder(source: OrderSource, options: WaitForOrderOptions): Promise<KnownOrder> {
  const { until, signal, timeoutMs: ms = LONGEST_TIMER_MS } = options
  check({
    until: optionProblem(KNOWN_ORDER_STATES, until),
    timeoutMs: durationProblem(ms),
  })
  let last: Order | undefined
  const explain = () =>
    last === undefined
      ? 'The order could not be read in time.'
      : `The time is over, and the order is still ${last.state}.`
  return withTimeout({ ms, signal, explain }, async (ending) => {
    for await (const order of watchOrder(source, { signal: ending })) {
      if (isReached(order, until)) return order
      last = order
    }
    if (ending.aborted) throw ending.reason
    throw new AggregatorError(
      'ORDER_STATE_UNREACHABLE',
      `The order is ${last?.state}, and will not be ${until}.`,
    )
  })
}

function isReached(order: Order, until: WaitForOrderOptions['until']): order is KnownOrder {
  if (until === undefined) return isFinal(order)
  return order.state === until || (until === 'DEPOSITED' && order.state !== 'NONE')
}
