import type { Hex } from 'viem'
import type { Order } from '../../../protocol/src/orders/order.js'
import { readOrder } from '../chain/orders.js'
import type { StoredOrder } from '../state.js'
import type { OrderParts } from './order-end.js'
import { findDeposit } from './order-look.js'

/**
 * Builds the looks back at orders that have ended. A reorganisation may remove a payment or a refund, or the deposit too, until that is
 * deep: then the nonce is unused again, and anybody may use it.
 * @param run goes on with an order that is open again
 */
export function createEndedOrders(parts: OrderParts, run: (orderId: Hex) => void) {
  const { chain, state, ledger, time, payments } = parts
  /** The heads at which orders were first known to have ended. */
  const endedSince = new Map<Hex, bigint>()

  async function lookBackAt(order: StoredOrder): Promise<void> {
    const { orderId, signed } = order
    // A node that does not have this block must not answer for it.
    const head = time.atDepth(0)
    const since = endedSince.get(orderId)
    // The end may be in a later block: the next head was read after it was seen.
    if (since === undefined || since === head.blockNumber)
      return void endedSince.set(orderId, head.blockNumber)
    const now = await readOrder(chain, orderId, head)
    if (!hasEnded(order, now)) {
      // Its payment would revert.
      if ((await findDeposit(parts, now, signed)) === undefined) payments.forget(orderId)
      if (signed !== undefined) ledger.reopen(signed)
      return move(orderId, 'OPEN')
    }
    if (head.blockNumber - since < chain.confirmations) return
    if (hasEnded(order, await readOrder(chain, orderId, time.atDepth()))) move(orderId, 'FINAL')
  }

  function hasEnded({ status, fillDeadline }: StoredOrder, { state }: Order): boolean {
    if (status === 'FILLED') return state === 'SETTLED'
    return state === 'REFUNDED' || (state === 'DEPOSITED' && time.surelyPassed() > fillDeadline)
  }

  function move(orderId: Hex, status: 'OPEN' | 'FINAL'): void {
    endedSince.delete(orderId)
    state.setStatus(orderId, status)
    if (status === 'OPEN') run(orderId)
  }

  return {
    /** Looks again at the orders whose end is not deep yet. @throws ChainReadError, viem's errors */
    async lookBack(): Promise<void> {
      const ended = (['FILLED', 'MISSED'] as const).flatMap((status) => state.orders(chain.chainId, status))
      await Promise.all(ended.map(lookBackAt))
    },
  }
}
