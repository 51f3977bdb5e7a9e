import type { Hex } from 'viem'
import { untilReturned } from '../calls/abort.js'
import { bytes32Problem, check, checkOptions, objectProblem } from '../calls/check-arguments.js'
import { chainPath } from '../calls/request-path.js'
import type { CallOptions, Instance } from '../calls/rest-calls.js'
import { type EventFilter, toFilterQuery } from '../events/event-filter.js'
import { type FollowOptions, followEvents, type StreamOptions } from '../events/follow-events.js'
import { type OrderEvent, readStreamMessage } from '../events/order-events.js'
import {
  type ListOrdersParams,
  listAllOrders,
  type OrderPage,
  readOrderPage,
  toOrdersQuery,
} from './list-orders.js'
import { type KnownOrder, type ListedOrder, type Order, readOrder } from './read-order.js'
import { type WaitForOrderOptions, waitForOrder } from './wait-for-order.js'
import { type OrderSource, type WatchOrderOptions, watchOrder } from './watch-order.js'

/** The methods of a client that read orders and their events. */
export interface OrderMethods {
  /** Reads an order as the settlement contract has it. An order that the contract does not know is NONE. */
  getOrder(chainId: number, orderId: Hex, options?: CallOptions): Promise<Order>
  /** Lists orders whose events the instance has published, newest first. @returns one page, with the token of the next one */
  listOrders(chainId: number, params?: ListOrdersParams, options?: CallOptions): Promise<OrderPage>
  /**
   * Yields each order of all pages, newest first. It asks for the next page when the loop needs it. The options hold for each page.
   * It throws what a page throws, such as RATE_LIMITED, and CANCELLED for the signal, so that a part never looks like the whole.
   */
  listAllOrders(chainId: number, params?: ListOrdersParams, options?: CallOptions): AsyncIterable<ListedOrder>
  /**
   * Follows the order events, each once and in order. After a lost connection it resumes at its cursor, as often as necessary.
   * It throws what another attempt cannot mend, such as CURSOR_UNKNOWN, INVALID_ARGUMENT and CHAIN_NOT_SUPPORTED.
   * CURSOR_UNKNOWN also ends a stream when the event log has lost events that it had sent, as after a restored backup.
   */
  streamEvents(filter?: EventFilter, options?: StreamOptions): AsyncIterable<OrderEvent>
  /**
   * Follows one order: its state now, then each change. After a reorganisation the state may be an earlier one. The watch ends
   * when SETTLED or REFUNDED has lasted for `finalAfterMs`, or by the signal.
   */
  watchOrder(chainId: number, orderId: Hex, options?: WatchOrderOptions): AsyncIterable<Order>
  /**
   * Waits until an order is SETTLED or REFUNDED. It is `watchOrder` with one result: it goes on over lost
   * connections, and without a stream. A reorganisation may remove the state afterwards. The step of the state is undefined while
   * the instance has not published its event.
   * @throws AggregatorError TIMED_OUT, CANCELLED, and what another attempt cannot mend
   */
  waitForOrder(chainId: number, orderId: Hex, options?: WaitForOrderOptions): Promise<KnownOrder>
}

/** Builds them for an instance. */
export function createOrderMethods(instance: Instance): OrderMethods {
  const getOrder: OrderMethods['getOrder'] = (chainId, orderId, callOptions) =>
    instance.call(
      () => ({ path: chainPath(chainId, `order/${orderId}`, { orderId: bytes32Problem(orderId) }) }),
      (order) => readOrder(order, { chainId, orderId }),
      callOptions,
    )

  const follow = (filter: EventFilter, options: FollowOptions) => {
    const open = (from: EventFilter, signal: AbortSignal) =>
      instance.open({ path: `/v1/events${toFilterQuery(from)}` }, readStreamMessage, signal)
    return followEvents(open, filter, options)
  }

  const orderSource = (chainId: number, orderId: Hex): OrderSource => ({
    follow: (options) =>
      follow({ chainIds: [chainId], orderIds: [orderId] }, { ...options, isStreamOptional: true }),
    read: (signal) => getOrder(chainId, orderId, { signal }),
  })

  const listOrders: OrderMethods['listOrders'] = (chainId, params = {}, callOptions) =>
    instance.call(
      () => ({ path: chainPath(chainId, 'orders') + toOrdersQuery(params) }),
      (page) => readOrderPage(page, params.pageToken),
      callOptions,
    )

  return {
    getOrder,
    listOrders,
    async *listAllOrders(chainId, params = {}, callOptions) {
      check({ params: objectProblem(params) })
      yield* listAllOrders((page) => listOrders(chainId, page, callOptions), params)
    },
    streamEvents: (filter = {}, options = {}) =>
      untilReturned(options, async function* ({ signal }) {
        check({ filter: objectProblem(filter) })
        for await (const notice of follow(filter, { ...options, signal }))
          if (notice.type !== 'connected' && notice.type !== 'disconnected') yield notice
      }),
    watchOrder: (chainId, orderId, options = {}) => watchOrder(orderSource(chainId, orderId), options),
    async waitForOrder(chainId, orderId, options = {}) {
      checkOptions(options)
      return waitForOrder(orderSource(chainId, orderId), options)
    },
  }
}
