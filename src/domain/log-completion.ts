import type { OrderEventType } from './event.js'
import type { Hex } from './hex.js'
import type { KnownOrder, OrderPosition } from './order.js'

/** An event of the log without its transaction and time, because an older version published it. */
export interface IncompleteEvent {
  readonly sequence: number
  readonly type: OrderEventType
  readonly orderId: Hex
  readonly blockNumber: number
  readonly blockHash: Hex
}

/** The transaction and time of such an event. */
export interface CompletedEvent extends Pick<IncompleteEvent, 'sequence'> {
  readonly transactionHash: Hex
  /** Unix time in seconds. */
  readonly blockTime: number
}

/** The orders and events that were added to the table of orders. */
export interface AddedToOrders {
  /** Empty when no event is left. */
  readonly orderIds: readonly Hex[]
  /** Number of events. */
  readonly added: number
}

/** Completes the log of one chain in the background. The methods that write throw FencedError when another sink was opened. */
export interface CompletionSink {
  /**
   * Takes the newest events of an older version that are not in the table of orders, at most `limit`. Adds all events of their
   * orders, and removes the steps of those that the older version has reverted.
   */
  addToOrders(limit: number): Promise<AddedToOrders>
  /** Canonical events without transaction and time, the newest first. @param before only those with a lower sequence */
  eventsWithoutTransaction(before: number, limit: number): Promise<IncompleteEvent[]>
  /** Sets the transactions and times of events that are still canonical. */
  completeEvents(events: readonly CompletedEvent[]): Promise<void>
  /** Orders whose terms are not known, the newest first. @param after only orders that are older than this position */
  ordersWithoutTerms(after: OrderPosition | undefined, limit: number): Promise<OrderPosition[]>
  /** Sets the terms of orders. Skips answers that belong to other orders. @returns how many have got their terms */
  completeOrders(orders: readonly KnownOrder[]): Promise<number>
}
