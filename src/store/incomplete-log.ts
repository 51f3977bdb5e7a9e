import { type SqlBool, sql } from 'kysely'
import type { LogEntry } from '../domain/event.js'
import type { Hex } from '../domain/hex.js'
import { isAnswerFor, withTerms } from '../domain/listed-order.js'
import type { AddedToOrders, CompletedEvent, IncompleteEvent } from '../domain/log-completion.js'
import type { KnownOrder, OrderPosition } from '../domain/order.js'
import type { Coordination, Database, DatabaseTransaction } from './database.js'
import { logEntryOf, sourceOf } from './event-rows.js'
import { lockLog } from './event-statements.js'
import type { FencingToken } from './fencing-token.js'
import { addSteps, changeOrders, isAfter, readOrders, removeSteps } from './order-statements.js'

/**
 * What the log of an older version lacks, and orders that could not be read from the contract. Each row tells by itself what
 * it lacks, so the completion can stop at any point. The methods are those of `CompletionSink`, for all chains. Those that write
 * throw FencedError when a later token was issued.
 */
export interface IncompleteLog {
  addToOrders(token: FencingToken, limit: number): Promise<AddedToOrders>
  eventsWithoutTransaction(chainId: number, before: number, limit: number): Promise<IncompleteEvent[]>
  /** Also sends the other replicas the first and the last sequence. @returns the entries that have changed */
  completeEvents(token: FencingToken, events: readonly CompletedEvent[]): Promise<LogEntry[]>
  ordersWithoutTerms(
    chainId: number,
    after: OrderPosition | undefined,
    limit: number,
  ): Promise<OrderPosition[]>
  completeOrders(token: FencingToken, orders: readonly KnownOrder[]): Promise<number>
}

/** Runs a write of a chain's leader. */
type Write = <T>(token: FencingToken, work: (transaction: DatabaseTransaction) => Promise<T>) => Promise<T>

/** Builds the incomplete part of the log over an open database. */
export function createIncompleteLog(
  database: Database,
  write: Write,
  { notify }: Coordination,
): IncompleteLog {
  return {
    async addToOrders(token, limit) {
      const { chainId } = token
      // Without a transaction, which would lock and write for nothing.
      if ((await outsideOrders(database, chainId, 1)).length === 0) return { orderIds: [], added: 0 }
      return write(token, async (transaction) => {
        await lockLog(transaction)
        const left = await outsideOrders(transaction, chainId, limit)
        const orderIds = [...new Set(left.map(({ order_id }) => order_id as Hex))]
        const rows = await transaction
          .selectFrom('events')
          .selectAll()
          .where('chain_id', '=', chainId)
          .where('order_id', 'in', orderIds)
          .where('type', '<>', 'Reverted')
          .execute()
        const reverted = rows.filter((row) => row.is_canonical === 0 && row.is_in_orders === 1)
        await removeSteps(transaction, chainId, reverted)
        // After them, because a reverted event may be on the chain again.
        const canonical = rows.filter((row) => row.is_canonical === 1)
        await addSteps(transaction, chainId, canonical.map(sourceOf))
        await transaction
          .updateTable('events')
          .set({ is_in_orders: sql<number>`is_canonical` })
          .where('chain_id', '=', chainId)
          .where('order_id', 'in', orderIds)
          .execute()
        return { orderIds, added: canonical.filter((row) => row.is_in_orders !== 1).length }
      })
    },

    async eventsWithoutTransaction(chainId, before, limit) {
      const rows = await database
        .selectFrom('events')
        .select(['sequence', 'type', 'order_id', 'block_number', 'block_hash'])
        .where('chain_id', '=', chainId)
        .where('transaction_hash', 'is', null)
        .where('is_canonical', '=', 1)
        .where('sequence', '<', before)
        .orderBy('sequence', 'desc')
        .limit(limit)
        .execute()
      return rows.map((row) => ({
        sequence: row.sequence,
        type: row.type as IncompleteEvent['type'],
        orderId: row.order_id as Hex,
        blockNumber: row.block_number,
        blockHash: row.block_hash as Hex,
      }))
    },

    completeEvents: (token, events) =>
      write(token, async (transaction) => {
        await lockLog(transaction)
        for (const { sequence, transactionHash, blockTime } of events)
          await transaction
            .updateTable('events')
            .set({ transaction_hash: transactionHash, block_time: blockTime })
            .where('sequence', '=', sequence)
            .where('is_canonical', '=', 1)
            .execute()
        const rows = await transaction
          .selectFrom('events')
          .selectAll()
          .where(
            'sequence',
            'in',
            events.map(({ sequence }) => sequence),
          )
          .where('is_canonical', '=', 1)
          .orderBy('sequence')
          .execute()
        const listed = rows.filter((row) => row.is_in_orders === 1)
        await addSteps(transaction, token.chainId, listed.map(sourceOf))
        const [first] = rows
        const range = `${first?.sequence} ${rows.at(-1)?.sequence}`
        if (first !== undefined) await notify(transaction, 'completions', range)
        return rows.map(logEntryOf)
      }),

    async ordersWithoutTerms(chainId, after, limit) {
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

    completeOrders: (token, orders) =>
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

/** The events of a chain that an older version wrote or reverted, and with which the orders do not agree. The newest first. */
function outsideOrders(database: Database, chainId: number, limit: number) {
  return database
    .selectFrom('events')
    .select('order_id')
    .where('chain_id', '=', chainId)
    .where(sql<SqlBool>`coalesce(is_in_orders, -1) <> is_canonical`)
    .orderBy('sequence', 'desc')
    .limit(limit)
    .execute()
}
