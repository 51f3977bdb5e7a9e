import type { Hex } from '../domain/hex.js'
import type { Order } from '../domain/order.js'
import type { Logger } from '../telemetry/log.js'
import { type ChainEye, isCurrent } from './chain-view.js'
import { createOrderMemory, type OrderMemory, type ReadOrder } from './order-memory.js'
import { isNodesOwnAnswer, summary } from './rpc-error.js'
import type { Settlement } from './settlement.js'

/** Reads orders as of the last block seen, out of memory where no later event can have touched them. */
export interface OrderReader extends Pick<OrderMemory, 'forget' | 'clear'> {
  /** An order that is known without asking the node. */
  known(orderId: Hex): Order | undefined
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
  eye: () => ChainEye,
  log: Logger,
): OrderReader {
  const orders = createOrderMemory(readLast)

  /** Reads as of the last block, or as of whatever the node has where it does not have that one. */
  async function readLast(orderId: Hex): Promise<ReadOrder> {
    const { last } = eye().view()
    if (last !== undefined) {
      try {
        const order = await settlement.readOrder(orderId, { blockHash: last.hash })
        return { order, isOfLastBlock: true }
      } catch (error) {
        if (!isNodesOwnAnswer(error)) throw error
        log.debug({ chainId, reason: summary(error) }, 'an order could not be read as of the last block')
      }
    }
    return { order: await settlement.readOrder(orderId, {}), isOfLastBlock: false }
  }

  return {
    forget: orders.forget,
    clear: orders.clear,
    known: (orderId) => (isCurrent(eye().view()) ? orders.known(orderId) : undefined),
    async read(orderId) {
      // What is read is to be of the block that is the last one now.
      const isKnown = eye().view().status === 'ok' && (await eye().look())
      return isKnown ? orders.get(orderId) : settlement.readOrder(orderId, {})
    },
  }
}
