import type { AggregatorError } from '../../src/calls/aggregator-error.js'
import type { Notice } from '../../src/events/follow-events.js'
import type { Order, OrderState } from '../../src/orders/read-order.js'

/**
 * An order whose states, or failures to read it, follow each other: one read at the start, one at each notice and one before the
 * end. The last one stays.
 */
export function story(states: readonly (OrderState | AggregatorError)[], notices: readonly Notice['type'][]) {
  let reads = 0
  const source = {
    async *follow({ signal }: { signal?: AbortSignal | undefined }) {
      for (const type of notices) yield { type } as Notice
      await new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve()))
    },
    async read(): Promise<Order> {
      const state = states[Math.min(reads++, states.length - 1)]
      if (state instanceof Error) throw state
      return { state, chainId: 1, orderId: '0xab' } as Order
    },
  }
  return { source, reads: () => reads }
}

export const connected = (count: number) => Array<'connected'>(count).fill('connected')
