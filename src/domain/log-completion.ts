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

/** An order without terms. */
export interface IncompleteOrder extends OrderPosition {
  readonly orderId: Hex
}

/** Completes the log of one chain in the background. The methods that write throw FencedError like those of the sink. */
export interface CompletionSink {
  /**
   * Adds events of an older version to their orders, each order at once, and removes those that it has reverted.
   * @returns the order of each event, at most `limit`; fewer when no event is left
   */
  addToOrders(limit: number): Promise<Hex[]>
  /** Canonical events without transaction and time, the newest first. @param before only those before a sequence */
  eventsWithoutTransaction(before: number, limit: number): Promise<IncompleteEvent[]>
  /** Sets the transactions and times of events that are still canonical. */
  completeEvents(events: readonly CompletedEvent[]): Promise<void>
  /** Orders whose terms are not known, the newest first. @param after only those after a position in this order */
  ordersWithoutTerms(after: OrderPosition | undefined, limit: number): Promise<IncompleteOrder[]>
  /** Sets the terms of orders. Skips answers that belong to other orders. @returns how many have got their terms */
  completeOrders(orders: readonly KnownOrder[]): Promise<number>
}
