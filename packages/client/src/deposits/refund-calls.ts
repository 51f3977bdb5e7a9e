import { encodeFunctionData } from 'viem'
import { REFUND_CALLS_ABI } from '../../../protocol/src/settlement/settlement-of-chain.js'
import type { SettlementTerms } from '../offers/settlement-terms.js'
import type { Order } from '../orders/read-order.js'
import type { Call } from './deposit-calls.js'

/**
 * Makes the call that gives the input of an order in deposit mode CONTRACT back to its user, with a part of the solver's bond.
 * Anyone may send it after the fill deadline, while the order is DEPOSITED. `prepareRefund` says when, also of a transfer to a deposit address.
 * @param options the result of `readSettlement`: the settlement contract of the order's chain
 */
export function refundCall(
  { orderId }: Pick<Order, 'orderId'>,
  { settlement }: Pick<SettlementTerms, 'settlement'>,
): Call {
  const data = encodeFunctionData({ abi: REFUND_CALLS_ABI, functionName: 'refund', args: [orderId] })
  return { to: settlement, data, value: 0n }
}
