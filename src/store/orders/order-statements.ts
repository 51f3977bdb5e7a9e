import type { Expression, ExpressionBuilder, SqlBool } from 'kysely'
import type { EventWithPosition } from '../../../packages/protocol/src/orders/block.js'
import type { OrderEventType } from '../../../packages/protocol/src/orders/event.js'
import { withoutStep, withStep } from '../../../packages/protocol/src/orders/listed-order.js'
import type { ListedOrder, OrderPosition } from '../../../packages/protocol/src/orders/order.js'
import { hourChanges, type SolverOrderHour } from '../../../packages/protocol/src/orders/order-hours.js'
import type { Address, Hex } from '../../../packages/protocol/src/values/hex.js'
import { BATCH_ROWS, type Database, type DatabaseTransaction, forEachBatch } from '../database.js'
import type { EventRow } from '../events/event-rows.js'
import type { Schema } from '../schema.js'
import { listedOrderOf, orderRow } from './order-rows.js'

/** Adds the steps of published events to their orders. */
export async function addSteps(
  transaction: DatabaseTransaction,
  chainId: number,
  events: readonly EventWithPosition[],
): Promise<void> {
  await forEachBatch(events, async (part) => {
    const before = await readOrders(
      transaction,
      chainId,
      part.map(({ event }) => event.orderId),
    )
    const after = new Map(before)
    for (const source of part) {
      const { orderId } = source.event
      after.set(orderId, withStep(after.get(orderId), source))
    }
    await changeOrders(transaction, chainId, before, after)
  })
}

/** Removes the steps of events that a reorganisation has removed. An order without steps leaves the table. */
export async function removeSteps(
  transaction: DatabaseTransaction,
  chainId: number,
  removed: readonly Pick<EventRow, 'order_id' | 'type'>[],
): Promise<void> {
  await forEachBatch(removed, async (part) => {
    const before = await readOrders(
      transaction,
      chainId,
      part.map(({ order_id }) => order_id as Hex),
    )
    const after = new Map(before)
    for (const { order_id, type } of part) {
      const orderId = order_id as Hex
      const known = after.get(orderId)
      if (known === undefined) continue
      const left = withoutStep(known, type as OrderEventType)
      if (left === undefined) after.delete(orderId)
      else after.set(orderId, left)
    }
    await changeOrders(transaction, chainId, before, after)
  })
}

/** Removes all orders of a chain, and with them its hourly counts and the nonces of offers: the chain has another contract. */
export async function removeOrders(transaction: DatabaseTransaction, chainId: number): Promise<void> {
  await transaction.deleteFrom('orders').where('chain_id', '=', chainId).execute()
  await transaction.deleteFrom('offer_nonces').where('chain_id', '=', chainId).execute()
  await transaction.deleteFrom('solver_order_hours').where('chain_id', '=', chainId).execute()
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

/**
 * Changes orders, and the hourly counts of their solvers with them. All changes of the table go through it.
 * @param before the orders as they are in the table, at most `BATCH_ROWS`; without the new ones
 * @param after the orders to write; those that it lacks leave the table
 */
export async function changeOrders(
  transaction: DatabaseTransaction,
  chainId: number,
  before: ReadonlyMap<Hex, ListedOrder>,
  after: ReadonlyMap<Hex, ListedOrder>,
): Promise<void> {
  await writeOrders(transaction, [...after.values()])
  const removed = [...before.keys()].filter((orderId) => !after.has(orderId))
  if (removed.length > 0)
    await transaction
      .deleteFrom('orders')
      .where('chain_id', '=', chainId)
      .where('order_id', 'in', removed)
      .execute()
  await changeHours(transaction, chainId, hourChanges(before.values(), after.values()))
}

/** Writes orders over those of the same ids. */
async function writeOrders(transaction: DatabaseTransaction, orders: readonly ListedOrder[]): Promise<void> {
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

/** Adds to the hourly counts of a chain's solvers. */
async function changeHours(
  transaction: DatabaseTransaction,
  chainId: number,
  changes: readonly SolverOrderHour[],
): Promise<void> {
  await forEachBatch(changes, (part) =>
    transaction
      .insertInto('solver_order_hours')
      .values(part.map((change) => ({ chain_id: chainId, ...change })))
      .onConflict((conflict) =>
        conflict.columns(['chain_id', 'solver', 'hour']).doUpdateSet(({ eb, ref }) => {
          const sum = (column: 'orders' | 'deposited' | 'settled' | 'refunded') =>
            eb(ref(`solver_order_hours.${column}`), '+', ref(`excluded.${column}`))
          return {
            orders: sum('orders'),
            deposited: sum('deposited'),
            settled: sum('settled'),
            refunded: sum('refunded'),
          }
        }),
      )
      .execute(),
  )
}
