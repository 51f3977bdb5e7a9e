import { LRUCache } from 'lru-cache'
import type { Hex } from '../domain/hex.js'
import type { Order } from '../domain/order.js'

/** An order as it was read, and whether it is known of which block. */
export interface FetchedOrder {
  readonly order: Order
  /** Only what is of the last block seen may be remembered: an event of a later one will tell of its end. */
  readonly isAtTip: boolean
}

/** Orders as of the last block seen. */
export interface OrderCache {
  /** An order that is remembered. */
  peek(orderId: Hex): Order | undefined
  /** An order, read only when it is not remembered and nobody is reading it already. */
  get(orderId: Hex): Promise<Order>
  /** Forgets an order that an event has touched; a reading under way will not be remembered. */
  invalidate(orderId: Hex): void
  /** Forgets all of them, as after a reorganisation. */
  clear(): void
}

const MAX_ORDERS = 10_000

/** Builds the memory over a way to read an order. */
export function createOrderCache(read: (orderId: Hex) => Promise<FetchedOrder>): OrderCache {
  const remembered = new LRUCache<Hex, Order>({ max: MAX_ORDERS })
  const readings = new Map<Hex, Promise<Order>>()

  function startReading(orderId: Hex): Promise<Order> {
    const isCurrent = () => readings.get(orderId) === sync
    const sync = read(orderId)
      .then(({ order, isAtTip }) => {
        if (isAtTip && isCurrent()) remembered.set(orderId, order)
        return order
      })
      .finally(() => {
        if (isCurrent()) readings.delete(orderId)
      })
    readings.set(orderId, sync)
    return sync
  }

  return {
    peek: (orderId) => remembered.get(orderId),
    async get(orderId) {
      return remembered.get(orderId) ?? readings.get(orderId) ?? startReading(orderId)
    },
    invalidate(orderId) {
      remembered.delete(orderId)
      readings.delete(orderId)
    },
    clear() {
      remembered.clear()
      readings.clear()
    },
  }
}
