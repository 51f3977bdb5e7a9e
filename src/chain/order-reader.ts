import type { Hex } from '../domain/hex.js'
import type { Order } from '../domain/order.js'
import type { Logger } from '../telemetry/log.js'
import { type ChainState, isCurrent } from './chain-state.js'
import { createOrderCache, type FetchedOrder, type OrderCache } from './order-cache.js'
import { isRpcResponseError, summary } from './rpc-error.js'
import type { Settlement } from './settlement.js'

/** Reads orders as of the last block seen, from memory when no later event can have changed them. */
export interface OrderReader extends Pick<OrderCache, 'invalidate' | 'clear'> {
  /** An order that is known without a request to the node. */
  peek(orderId: Hex): Order | undefined
  /** @throws viem's error when the node does not answer */
  read(orderId: Hex): Promise<Order>
}

/**
 * Builds the reader.
 * @param state returns the chain's current state
 */
export function createOrderReader(
  chainId: number,
  settlement: Settlement,
  state: () => ChainState,
  log: Logger,
): OrderReader {
  const orders = createOrderCache(readLast)

  /** Reads the state of the last block, or the node's latest state when the node does not have that block. */
  async function readLast(orderId: Hex): Promise<FetchedOrder> {
    const { last } = state().snapshot()
    if (last !== undefined) {
      try {
        const order = await settlement.readOrder(orderId, { blockHash: last.hash })
        return { order, isAtTip: true }
      } catch (error) {
        if (!isRpcResponseError(error)) throw error
        log.debug({ chainId, reason: summary(error) }, 'an order could not be read as of the last block')
      }
    }
    return { order: await settlement.readOrder(orderId, {}), isAtTip: false }
  }

  return {
    invalidate: orders.invalidate,
    clear: orders.clear,
    peek: (orderId) => (isCurrent(state().snapshot()) ? orders.peek(orderId) : undefined),
    async read(orderId) {
      // So that the order is read as of the current last block.
      const isKnown = state().snapshot().status === 'ok' && (await state().poll())
      return isKnown ? orders.get(orderId) : settlement.readOrder(orderId, {})
    },
  }
}
