import type { Hex } from 'viem'
import { readView } from '../../../protocol/src/node/read-view.js'
import type { OrderState } from '../../../protocol/src/orders/order.js'
import { order } from '../../../protocol/src/settlement/settlement-of-chain.js'
import type { SettlementTerms } from '../offers/settlement-terms.js'

/**
 * Reads the state of an order from the contract, through the user's own node. What an instance says of an order is its word only: read
 * this before the user's deposit counts as settled, or as given back.
 * @param settlement the result of `readSettlement` for the order's chain
 * @returns NONE for an order that the contract does not know
 * @throws ChainReadError and viem's errors when the node does not answer
 */
export async function readOrderState(
  { client, chainId, settlement }: SettlementTerms,
  orderId: Hex,
): Promise<OrderState> {
  return (await readView(client.request, settlement, order(chainId, orderId))).state
}
