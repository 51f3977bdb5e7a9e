import type { Expression, ExpressionBuilder, SqlBool } from 'kysely'
import type { EventWithPosition } from '../domain/block.js'
import type { OrderEventType } from '../domain/event.js'
import type { Address, Hex } from '../domain/hex.js'
import { withoutStep, withStep } from '../domain/listed-order.js'
import type { ListedOrder, OrderPosition } from '../domain/order.js'
import { BATCH_ROWS, forEachBatch } from './batches.js'
import type { Database, DatabaseTransaction } from './database.js'
import type { EventRow } from './event-rows.js'
import { listedOrderOf, orderRow } from './order-rows.js'
import type { Schema } from './schema.js'

/** The events, each with the solver of its order when another event of the order has it. */
export async function withKnownSolvers(
  transaction: DatabaseTransaction,
  chainId: number,
  events: readonly EventWithPosition[],
): Promise<readonly EventWithPosition[]> {
  const without = events.filter(({ event }) => event.solver === undefined)
  if (without.length === 0) return events
  const solvers = new Map<Hex, Address | undefined>()
  for (const { event } of events) if (event.solver !== undefined) solvers.set(event.orderId, event.solver)
  await forEachBatch(without, async (part) => {
    const orderIds = part.map(({ event }) => event.orderId)
    for (const { orderId, solver } of (await readOrders(transaction, chainId, orderIds)).values())
      if (solver !== undefined) solvers.set(orderId, solver)
  })
  return events.map((source) => {
    const { event } = source
    const solver = event.solver ?? solvers.get(event.orderId)
    return { ...source, event: { ...event, solver } as typeof event }
  })
}

/** Adds the steps of published events to their orders. */
export async function addSteps(
  transaction: DatabaseTransaction,
  chainId: number,
  events: readonly EventWithPosition[],
): Promise<void> {
  await forEachBatch(events, async (part) => {
    const orders = await readOrders(
      transaction,
      chainId,
      part.map(({ event }) => event.orderId),
    )
    for (const source of part) {
      const { orderId } = source.event
      orders.set(orderId, withStep(orders.get(orderId), source))
    }
    await writeOrders(transaction, [...orders.values()])
  })
}

/** Removes the steps of events that a reorganisation has removed. An order without steps leaves the table. */
export async function removeSteps(
  transaction: DatabaseTransaction,
  chainId: number,
  removed: readonly Pick<EventRow, 'order_id' | 'type'>[],
): Promise<void> {
  await forEachBatch(removed, async (part) => {
    const orders = await readOrders(
      transaction,
      chainId,
      part.map(({ order_id }) => order_id as Hex),
    )
    const without = new Set<Hex>()
    for (const { order_id, type } of part) {
      const orderId = order_id as Hex
      const known = orders.get(orderId)
      if (known === undefined) continue
      const left = withoutStep(known, type as OrderEventType)
      if (left !== undefined) orders.set(orderId, left)
      else {
        orders.delete(orderId)
        without.add(orderId)
      }
    }
    await writeOrders(transaction, [...orders.values()])
    if (without.size === 0) return
    await transaction
      .deleteFrom('orders')
      .where('chain_id', '=', chainId)
      .where('order_id', 'in', [...without])
      .execute()
  })
}

/** Removes all orders of a chain. */
export async function removeOrders(transaction: DatabaseTransaction, chainId: number): Promise<void> {
  await transaction.deleteFrom('orders').where('chain_id', '=', chainId).execute()
}

/** The orders of these ids that are in the table, at most `BATCH_ROWS`. */
export async function readOrders(
  database: Database,
  chainId: number,
  orderIds: readonly Hex[],
): Promise<Map<Hex, ListedOrder>> {
  const rows = await database
    .selectFrom('orders')
    .selectAll()
    .where('chain_id', '=', chainId)
    .where('order_id', 'in', [...new Set(orderIds)])
    .limit(BATCH_ROWS)
    .execute()
  return new Map(rows.map(listedOrderOf).map((order) => [order.orderId, order]))
}

/** The solvers of those of some orders that are in the table with terms. */
export async function knownSolvers(
  database: Database,
  chainId: number,
  orderIds: readonly Hex[],
): Promise<Map<Hex, Address>> {
  const solvers = new Map<Hex, Address>()
  await forEachBatch([...new Set(orderIds)], async (part) => {
    const rows = await database
      .selectFrom('orders')
      .select(['order_id', 'solver'])
      .where('chain_id', '=', chainId)
      .where('order_id', 'in', part)
      .where('terms', 'is not', null)
      .execute()
    for (const { order_id, solver } of rows)
      if (solver !== null) solvers.set(order_id as Hex, solver as Address)
  })
  return solvers
}

/**
 * A position before the newest order. The first page has this condition too: without any, PostgreSQL sorts the whole table when
 * it has no statistics of it.
 */
const BEGINNING: OrderPosition = { blockNumber: Number.MAX_SAFE_INTEGER, logIndex: 0, orderId: '0x' }

/** The condition for orders after a position, from the newest to the oldest. @param after undefined for all orders */
export function isAfter(after: OrderPosition = BEGINNING) {
  return ({ eb, refTuple, tuple }: ExpressionBuilder<Schema, 'orders'>): Expression<SqlBool> =>
    eb(
      refTuple('block_number', 'log_index', 'order_id'),
      '<',
      tuple(after.blockNumber, after.logIndex, after.orderId),
    )
}

/** Writes orders over those of the same ids. */
export async function writeOrders(
  transaction: DatabaseTransaction,
  orders: readonly ListedOrder[],
): Promise<void> {
  if (orders.length === 0) return
  await transaction
    .insertInto('orders')
    .values(orders.map(orderRow))
    .onConflict((conflict) =>
      conflict.columns(['chain_id', 'order_id']).doUpdateSet(({ ref }) => ({
        block_number: ref('excluded.block_number'),
        log_index: ref('excluded.log_index'),
        state: ref('excluded.state'),
        solver: ref('excluded.solver'),
        terms: ref('excluded.terms'),
        steps: ref('excluded.steps'),
      })),
    )
    .execute()
}
