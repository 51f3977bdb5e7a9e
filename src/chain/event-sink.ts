import type {
  BlockHeader,
  BlockRef,
  ChainPosition,
  EventWithPosition,
  NewBlocks,
} from '../../packages/protocol/src/orders/block.js'
import type { KnownOrder, OrderPosition } from '../../packages/protocol/src/orders/order.js'
import type { Address, Hex } from '../../packages/protocol/src/values/hex.js'

/**
 * Writes the events of one chain together with the chain's position. Each write is one transaction. After its commit, the
 * subscribers of all replicas receive its events.
 */
export interface EventSink {
  /** Makes this sink the only one that can write the chain's events. @returns the chain's position */
  open(): Promise<ChainPosition | undefined>
  /** Starts the chain after a block. @throws FencedError when another sink of the chain was opened; also methods below */
  begin(settlement: Address, header: BlockHeader): Promise<void>
  append(blocks: NewBlocks): Promise<void>
  /** Adds the events of known blocks that the log lacks. @returns the number of events added */
  appendMissing(events: readonly EventWithPosition[]): Promise<number>
  /** Removes all events after a block. */
  revert(ancestor: BlockHeader): Promise<void>
  /** The solvers of those of some orders whose terms are known, from a `Deposited` event or from the contract. */
  knownSolvers(orderIds: readonly Hex[]): Promise<ReadonlyMap<Hex, Address>>
  /** The last blocks with canonical events below a number: at most `limit`, the oldest first. */
  eventBlocks(below: number, limit: number): Promise<BlockRef[]>
}

/** Has the orders of one chain whose terms could not be read with their events. */
export interface TermsSink {
  /** Orders whose terms are not known, the newest first. @param after only orders that are older than this position */
  ordersWithoutTerms(after: OrderPosition | undefined, limit: number): Promise<OrderPosition[]>
  /**
   * Sets the terms of orders. Skips answers that belong to other orders.
   * @returns how many have got their terms
   * @throws FencedError when another sink was opened
   */
  completeOrders(orders: readonly KnownOrder[]): Promise<number>
}
