import { LRUCache } from 'lru-cache'
import type { Hex } from '../domain/hex.js'
import type { Order } from '../domain/order.js'

/** An order as a node returned it. */
export interface FetchedOrder {
  readonly order: Order
  /** Whether it is the state of the last block seen. Only such an order is kept, because a later event invalidates it. */
  readonly isAtTip: boolean
}

/** Orders as of the last block seen. */
export interface OrderCache {
  /** An order from memory. */
  peek(orderId: Hex): Order | undefined
  /** An order. Reads it only when it is not in memory and no read of it is under way. */
  get(orderId: Hex): Promise<Order>
  /** Removes an order that an event has changed. A read under way is not kept. */
  invalidate(orderId: Hex): void
  /** Removes all orders, as after a reorganisation. */
  clear(): void
}

const MAX_ORDERS = 10_000

/** Builds the cache. @param read reads one order */
export function createOrderCache(read: (orderId: Hex) => Promise<FetchedOrder>): OrderCache {
  const cached = new LRUCache<Hex, Order>({ max: MAX_ORDERS })
  const readings = new Map<Hex, Promise<Order>>()

  function startReading(orderId: Hex): Promise<Order> {
    const isCurrent = () => readings.get(orderId) === reading
    const reading = read(orderId)
      .then(({ order, isAtTip }) => {
        if (isAtTip && isCurrent()) cached.set(orderId, order)
        return order
      })
      .finally(() => {
        if (isCurrent()) readings.delete(orderId)
      })
    readings.set(orderId, reading)
    return reading
  }

  return {
    peek: (orderId) => cached.get(orderId),
    async get(orderId) {
      return cached.get(orderId) ?? readings.get(orderId) ?? startReading(orderId)
    },
    invalidate(orderId) {
      cached.delete(orderId)
      readings.delete(orderId)
    },
    clear() {
      cached.clear()
      readings.clear()
    },
  }
}
