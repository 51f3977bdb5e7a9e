import type { Hex } from 'viem'
import { readOrder } from '../chain/orders.js'
import type { StoredOrder } from '../state.js'
import type { OrderParts } from './order-end.js'
import { findDeposit } from './order-look.js'

/**
 * Builds the looks back at paid orders. A reorganisation may remove a payment, or its deposit too, until the payment is deep.
 * @param run goes on with an order that is open again
 */
export function createPaidOrders(parts: OrderParts, run: (orderId: Hex) => void) {
  const { chain, state, ledger, time, payments } = parts
  /** The heads at which orders were first known as paid. */
  const paidSince = new Map<Hex, bigint>()

  async function lookBackAt({ orderId, signed }: StoredOrder): Promise<void> {
    // A node that does not have this block must not answer for it.
    const head = time.atDepth(0)
    const since = paidSince.get(orderId)
    // The payment may be in a later block: the next head was read after it was seen.
    if (since === undefined) return void paidSince.set(orderId, head.blockNumber)
    const now = await readOrder(chain, orderId, head)
    if (now.state !== 'SETTLED') {
      // Its payment would revert.
      if ((await findDeposit(parts, now, signed)) === undefined) payments.forget(orderId)
      if (signed !== undefined) ledger.reopen(signed)
      return move(orderId, 'OPEN')
    }
    if (head.blockNumber - since < chain.confirmations) return
    const deep = await readOrder(chain, orderId, time.atDepth())
    if (deep.state === 'SETTLED') move(orderId, 'FINAL')
  }

  function move(orderId: Hex, status: 'OPEN' | 'FINAL'): void {
    paidSince.delete(orderId)
    state.setStatus(orderId, status)
    if (status === 'OPEN') run(orderId)
  }

  return {
    /** Looks again at the orders whose payment is not deep yet. @throws ChainReadError, viem's errors */
    async lookBack(): Promise<void> {
      await Promise.all(state.orders(chain.chainId, 'FILLED').map(lookBackAt))
    },
  }
}
