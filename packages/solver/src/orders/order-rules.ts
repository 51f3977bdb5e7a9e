import type { Address } from 'viem'
import type { Order } from '../../../protocol/src/orders/order.js'
import type { FillableOrder, SolverQuote } from './fillable-order.js'

/** What ends an order, beside what the contract says of it. Unix seconds. */
export interface OrderTimes {
  /** The chain's time. Only this ends an order: the contract knows no other, and a node may lag. */
  readonly time: number
  readonly fillDeadline: number
}

/**
 * Decides whether an order has ended.
 * @param hadDeposit its deposit was seen since the start
 * @returns `GONE` when a reorganisation has removed its deposit, and none came again; undefined while it is open
 */
export function endOf(
  order: Order,
  { time, fillDeadline }: OrderTimes,
  hadDeposit: boolean,
): 'FILLED' | 'MISSED' | 'GONE' | undefined {
  if (order.state === 'SETTLED') return 'FILLED'
  if (order.state !== 'REFUNDED' && time <= fillDeadline) return undefined
  return order.state === 'NONE' && !hadDeposit ? 'GONE' : 'MISSED'
}

/**
 * Decides where the deposit of an open order is.
 * @param balance what its address has of the input token, if that was read
 * @returns undefined while no deposit is there, or the order belongs to another solver
 */
export function depositOf(
  order: Order,
  solver: Address,
  signed: SolverQuote | undefined,
  balance: bigint | undefined,
): FillableOrder['deposit'] | undefined {
  if (order.state === 'DEPOSITED') return order.solver === solver ? 'CONTRACT' : undefined
  if (signed === undefined || balance === undefined) return undefined
  return balance >= signed.quote.inputAmount ? 'ADDRESS' : undefined
}
