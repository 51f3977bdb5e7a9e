import { isAnswerFor, withTerms } from '../../../packages/protocol/src/orders/listed-order.js'
import type { KnownOrder, OrderPosition } from '../../../packages/protocol/src/orders/order.js'
import type { Hex } from '../../../packages/protocol/src/values/hex.js'
import type { Database, DatabaseTransaction } from '../database.js'
import { changeOrders, isAfter, readOrders } from '../orders/order-statements.js'
import type { FencingToken } from './chain-positions.js'

/** Runs a write of a chain's leader. */
type Write = <T>(token: FencingToken, work: (transaction: DatabaseTransaction) => Promise<T>) => Promise<T>

/**
 * Builds the reads and writes of orders whose terms could not be read from the contract, over an open database. The methods are those of
 * `EventSink`, for all chains.
 */
export function createMissingTerms(database: Database, write: Write) {
  return {
    async ordersWithoutTerms(
      chainId: number,
      after: OrderPosition | undefined,
      limit: number,
    ): Promise<OrderPosition[]> {
      const rows = await database
        .selectFrom('orders')
        .select(['order_id', 'block_number', 'log_index'])
        .where('chain_id', '=', chainId)
        .where('terms', 'is', null)
        .where(isAfter(after))
        .orderBy('block_number', 'desc')
        .orderBy('log_index', 'desc')
        .orderBy('order_id', 'desc')
        .limit(limit)
        .execute()
      return rows.map((row) => ({
        orderId: row.order_id as Hex,
        blockNumber: row.block_number,
        logIndex: row.log_index,
      }))
    },

    /** @throws FencedError when a later token was issued */
    completeOrders: (token: FencingToken, orders: readonly KnownOrder[]): Promise<number> =>
      write(token, async (transaction) => {
        const known = await readOrders(
          transaction,
          token.chainId,
          orders.map(({ orderId }) => orderId),
        )
        const after = new Map(known)
        let completed = 0
        for (const order of orders) {
          const row = known.get(order.orderId)
          if (row === undefined || !isAnswerFor(row, order)) continue
          after.set(order.orderId, withTerms(row, order))
          completed++
        }
        await changeOrders(transaction, token.chainId, known, after)
        return completed
      }),
  }
}
