import type { Hex } from '../domain/hex.js'
import type { Order } from '../domain/order.js'
import type { Logger } from '../telemetry/log.js'
import { type ChainState, isCurrent } from './chain-state.js'
import { createOrderCache, type FetchedOrder, type OrderCache } from './order-cache.js'
import { isRpcResponseError, summary } from './rpc-error.js'
import type { Settlement } from './settlement.js'

/** Reads orders as of the last block seen, out of memory where no later event can have touched them. */
export interface OrderReader extends Pick<OrderCache, 'invalidate' | 'clear'> {
  /** An order that is known without asking the node. */
  peek(orderId: Hex): Order | undefined
  /** @throws the error of viem when the node does not answer */
  read(orderId: Hex): Promise<Order>
}

/**
 * Builds the reader.
 * @param eye whoever sees the chain at the moment
 */
export function createOrderReader(
  chainId: number,
  settlement: Settlement,
  state: () => ChainState,
  log: Logger,
): OrderReader {
  const orders = createOrderCache(readLast)

  /** Reads as of the last block, or as of whatever the node has where it does not have that one. */
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
      // What is read is to be of the block that is the last one now.
      const isKnown = state().snapshot().status === 'ok' && (await state().poll())
      return isKnown ? orders.get(orderId) : settlement.readOrder(orderId, {})
    },
  }
}
