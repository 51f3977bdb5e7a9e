import { encodeFunctionData, getAddress } from 'viem'
import { REFUND_CALLS_ABI } from '../../../protocol/src/settlement/settlement-of-chain.js'
import { lowerCase } from '../../../protocol/src/values/hex.js'
import type { SettlementTerms } from '../offers/settlement-terms.js'
import type { ListedOrder, Order } from '../orders/read-order.js'
import type { Call } from './deposit-calls.js'

/**
 * Whether the input of an order can be taken back with `refundCall` at this time: it was deposited by a call of the contract, and
 * the time for the solver is over. Tokens at a deposit address make no order before they are settled or refunded: for them, ask
 * `prepareRefund`.
 * @param now Unix time in seconds, such as `Date.now() / 1000`; the contract compares the time of the block
 */
export function isRefundable(order: Order | ListedOrder, now: number): boolean {
  return order.state === 'DEPOSITED' && 'fillDeadline' in order && now > (order.fillDeadline ?? now)
}

/**
 * Makes the call that gives the input of an order in deposit mode CONTRACT back to its user, with a part of the solver's bond.
 * Anyone may send it after the fill deadline, while the order is DEPOSITED (`isRefundable`).
 * @param options the result of `readSettlement`: the settlement contract of the order's chain
 */
export function refundCall(
  { orderId }: Pick<Order, 'orderId'>,
  { settlement }: Pick<SettlementTerms, 'settlement'>,
): Call {
  const data = encodeFunctionData({ abi: REFUND_CALLS_ABI, functionName: 'refund', args: [orderId] })
  return { to: getAddress(lowerCase(settlement)), data, value: 0n }
}
