import type { MessageInitShape } from '@bufbuild/protobuf'
import {
  type GetOrderResponseSchema,
  OrderState,
  type OrderStepSchema,
} from '../../../gen/aggregator/v1/order_pb.js'
import {
  KNOWN_ORDER_STATES,
  type ListedOrder,
  type OrderStep,
  type OrderWithSteps,
} from '../../domain/orders/order.js'
import { toCachedChecksumAddress } from '../../signing/checksum.js'
import { byNumber } from './convert.js'

/** The states of listed orders, by their numbers in messages. */
export const LISTED_STATES = byNumber(KNOWN_ORDER_STATES, OrderState)

/** The message of an order. It has only three fields when the contract does not know the order (docs/decisions.md, D6). */
export function toOrderMessage(order: OrderWithSteps): MessageInitShape<typeof GetOrderResponseSchema> {
  const { orderId, chainId, state } = order
  if (state === 'NONE') return { orderId, chainId: BigInt(chainId), state: OrderState.NONE }
  return toListedOrderMessage({ ...order, terms: order })
}

/** The message of an order in a list. Its fields are written out, because spreads take three times as long. */
export function toListedOrderMessage(order: ListedOrder) {
  const { orderId, chainId, state, user, solver, terms, steps } = order
  return {
    orderId,
    chainId: BigInt(chainId),
    state: OrderState[state],
    user: toCachedChecksumAddress(user),
    solver: solver && toCachedChecksumAddress(solver),
    inputToken: terms && toCachedChecksumAddress(terms.inputToken),
    inputAmount: terms?.inputAmount.toString(),
    outputToken: terms && toCachedChecksumAddress(terms.outputToken),
    outputAmount: terms?.outputAmount.toString(),
    outputChainId: terms && BigInt(terms.outputChainId),
    fillDeadline: terms?.fillDeadline,
    deposited: steps.deposited && toStep(steps.deposited),
    settled: steps.settled && toStep(steps.settled),
    refunded: steps.refunded && toStep(steps.refunded),
  }
}

function toStep(step: OrderStep): MessageInitShape<typeof OrderStepSchema> {
  const { blockNumber, blockTime, transactionHash } = step
  return {
    blockNumber: BigInt(blockNumber),
    blockTime: BigInt(blockTime),
    transactionHash,
  }
}
