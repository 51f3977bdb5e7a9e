import { positionOf } from '../../../packages/protocol/src/orders/listed-order.js'
import {
  KNOWN_ORDER_STATES,
  type OrderFilter,
  type OrderPage,
  type OrderPosition,
  type OrderSteps,
} from '../../../packages/protocol/src/orders/order.js'
import type { Hex } from '../../../packages/protocol/src/values/hex.js'
import type { Database } from '../database.js'
import { listedOrderOf } from './order-rows.js'
import { isAfter, readOrders } from './order-statements.js'

/** Reads the orders whose events are published. The event store writes them. */
export type OrderStore = ReturnType<typeof createOrderStore>

/** Builds the reader over an open database. */
export function createOrderStore(database: Database) {
  /**
   * The orders of one state. For each filter there is an index with the state and the position at its end, so that a read
   * takes only the rows of its page. The database itself sorts the few orders of one block and log index.
   */
  function ofState(
    chainId: number,
    { user, solver, state }: Required<Pick<OrderFilter, 'state'>> & OrderFilter,
    after: OrderPosition | undefined,
    limit: number,
  ) {
    let rows = database
      .selectFrom('orders')
      .selectAll()
      .where('chain_id', '=', chainId)
      .where('state', '=', state)
    if (user !== undefined) rows = rows.where('user', '=', user)
    if (solver !== undefined) rows = rows.where('solver', '=', solver)
    const page = rows
      .where(isAfter(after))
      .orderBy('block_number', 'desc')
      .orderBy('log_index', 'desc')
      .orderBy('order_id', 'desc')
      .limit(limit)
    // SQLite takes a limit only in a subquery of a union.
    return database.selectFrom(page.as('page')).selectAll()
  }

  return {
    /** The steps of an order; none when no event of it is published. */
    async readSteps(chainId: number, orderId: Hex): Promise<OrderSteps> {
      const orders = await readOrders(database, chainId, [orderId])
      return orders.get(orderId)?.steps ?? {}
    },

    /**
     * A page of a chain's orders that match a filter, newest first.
     * @param after the position after which the page begins; undefined for the first page
     * @param limit most orders of the page
     */
    async list(
      chainId: number,
      filter: OrderFilter,
      after: OrderPosition | undefined,
      limit: number,
    ): Promise<OrderPage> {
      const states = filter.state === undefined ? KNOWN_ORDER_STATES : [filter.state]
      // One statement, so that an order is in one state while it is read.
      const pages = states.map((state) => ofState(chainId, { ...filter, state }, after, limit + 1))
      const rows = await database
        .selectFrom(pages.reduce((all, page) => all.unionAll(page)).as('orders'))
        .selectAll()
        .orderBy('block_number', 'desc')
        .orderBy('log_index', 'desc')
        .orderBy('order_id', 'desc')
        .limit(limit + 1)
        .execute()
      const page = rows.slice(0, limit).map(listedOrderOf)
      const last = page.at(-1)
      return { orders: page, next: rows.length > limit && last ? positionOf(last) : undefined }
    },
  }
}
