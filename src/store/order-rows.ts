import type { Insertable, Selectable } from 'kysely'
import type { Address, Hex } from '../domain/hex.js'
import { positionOf } from '../domain/listed-order.js'
import type { ListedOrder, OrderSteps, OrderTerms } from '../domain/order.js'
import type { Schema } from './schema.js'

export type OrderRow = Selectable<Schema['orders']>

/** The row of an order. */
export function orderRow(order: ListedOrder): Insertable<Schema['orders']> {
  const { chainId, orderId, state, user, solver, terms, steps } = order
  const { blockNumber, logIndex } = positionOf(order)
  return {
    chain_id: chainId,
    order_id: orderId,
    block_number: blockNumber,
    log_index: logIndex,
    state,
    user,
    solver: solver ?? null,
    terms: terms === undefined ? null : writeTerms(terms),
    steps: JSON.stringify(steps),
  }
}

/** Converts a row to an order. */
export function listedOrderOf(row: OrderRow): ListedOrder {
  return {
    chainId: row.chain_id,
    orderId: row.order_id as Hex,
    state: row.state as ListedOrder['state'],
    user: row.user as Address,
    solver: (row.solver ?? undefined) as Address | undefined,
    terms: row.terms === null ? undefined : readTerms(row.terms),
    steps: JSON.parse(row.steps) as OrderSteps,
  }
}

function writeTerms({ inputAmount, outputAmount, ...terms }: OrderTerms): string {
  return JSON.stringify({ ...terms, inputAmount: String(inputAmount), outputAmount: String(outputAmount) })
}

function readTerms(text: string): OrderTerms {
  const { inputAmount, outputAmount, ...terms } = JSON.parse(text)
  return { ...terms, inputAmount: BigInt(inputAmount), outputAmount: BigInt(outputAmount) }
}
