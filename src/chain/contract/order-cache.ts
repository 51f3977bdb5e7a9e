import { LRUCache } from 'lru-cache'
import type { OrderEvent } from '../../../packages/protocol/src/orders/event.js'
import type { OrderWithSteps } from '../../../packages/protocol/src/orders/order.js'
import type { Hex } from '../../../packages/protocol/src/values/hex.js'

/** An order as a node returned it. */
export interface FetchedOrder {
  readonly order: OrderWithSteps
  /** The last block seen, if this is the state of it. Only such an order is kept, because a later event invalidates it. */
  readonly atBlock: number | undefined
}

/** Orders of one chain as of the last block seen. */
export type OrderCache = ReturnType<typeof createOrderCache>

/**
 * The orders of all chains. An order is invalidated before any subscriber receives its event, on every replica. So a
 * subscriber never reads an order that is older than the event. The event log holds this rule: it calls `invalidate` with
 * each event before it passes the event on.
 *
 * Orders are read as of the last block seen, so a block that waits for confirmations invalidates its orders too: see
 * chain-listeners.ts for the leader and chain-state.ts for the other replicas.
 */
export type OrderCaches = ReturnType<typeof createOrderCaches>

/** Orders of all chains together. A settled one takes some 2 KB. */
export const MAX_ORDERS = 32_000
/** Blocks for which an order that the contract does not know is kept. */
const UNKNOWN_BLOCKS = 5

/** Builds the caches of all supported chains. The orders of a chain that were not read for longest leave its cache first. */
export function createOrderCaches(chainIds: readonly number[]) {
  const max = Math.ceil(MAX_ORDERS / chainIds.length)
  const caches = new Map(chainIds.map((chainId) => [chainId, createOrderCache(max)]))
  return {
    of(chainId: number): OrderCache {
      const cache = caches.get(chainId)
      if (cache === undefined) throw new Error(`chain ${chainId} has no order cache`)
      return cache
    },
    /** Removes the order of an event, on whichever replica the event was read. Ignores other chains. */
    invalidate: ({ chainId, orderId }: Pick<OrderEvent, 'chainId' | 'orderId'>): void =>
      caches.get(chainId)?.invalidate(orderId),
  }
}

/** Builds the cache of one chain. */
function createOrderCache(max: number) {
  const memory = new LRUCache<Hex, FetchedOrder>({ max })
  const readings = new Map<Hex, Promise<OrderWithSteps>>()

  function startReading(
    orderId: Hex,
    read: (orderId: Hex) => Promise<FetchedOrder>,
  ): Promise<OrderWithSteps> {
    const isCurrent = () => readings.get(orderId) === reading
    const reading = read(orderId)
      .then((fetched) => {
        if (fetched.atBlock !== undefined && isCurrent()) memory.set(orderId, fetched)
        return fetched.order
      })
      .finally(() => {
        if (isCurrent()) readings.delete(orderId)
      })
    readings.set(orderId, reading)
    return reading
  }

  function peek(orderId: Hex, block: number): OrderWithSteps | undefined {
    const { order, atBlock = 0 } = memory.get(orderId) ?? {}
    return order?.state === 'NONE' && block - atBlock >= UNKNOWN_BLOCKS ? undefined : order
  }

  return {
    /**
     * An order from memory. One that the contract did not know is not used after a few blocks: deployed contracts change orders without an
     * event that all of them have (docs/decisions.md, D6).
     * @param block number of the last block seen
     */
    peek,
    /** An order. Reads it only when `peek` does not give it and no read of it is under way. */
    async get(
      orderId: Hex,
      block: number,
      read: (orderId: Hex) => Promise<FetchedOrder>,
    ): Promise<OrderWithSteps> {
      return peek(orderId, block) ?? readings.get(orderId) ?? startReading(orderId, read)
    },
    /** Removes an order that an event has changed. A read under way is not kept. */
    invalidate(orderId: Hex): void {
      memory.delete(orderId)
      readings.delete(orderId)
    },
    /** Removes all orders, as after a reorganisation. */
    clear(): void {
      memory.clear()
      readings.clear()
    },
  }
}
