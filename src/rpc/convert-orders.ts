import type { MessageInitShape } from '@bufbuild/protobuf'
import {
  type GetOrderResponseSchema,
  type OrderSchema,
  OrderState,
  type OrderStepSchema,
} from '../../gen/aggregator/v1/order_pb.js'
import type {
  KnownOrder,
  ListedOrder,
  OrderState as OrderStateName,
  OrderStep,
  OrderSteps,
  OrderTerms,
  OrderWithSteps,
} from '../domain/order.js'
import { toCachedChecksumAddress } from '../signing/checksum.js'

const STATE_NUMBERS: Readonly<Record<OrderStateName, OrderState>> = {
  NONE: OrderState.NONE,
  DEPOSITED: OrderState.DEPOSITED,
  SETTLED: OrderState.SETTLED,
  REFUNDED: OrderState.REFUNDED,
}

/** The states of listed orders, by their numbers in messages. */
export const LISTED_STATES: Readonly<Record<number, KnownOrder['state']>> = {
  [OrderState.DEPOSITED]: 'DEPOSITED',
  [OrderState.SETTLED]: 'SETTLED',
  [OrderState.REFUNDED]: 'REFUNDED',
}

/** The message of an order. It has only three fields when the contract does not know the order (docs/decisions.md, D6). */
export function toOrderMessage(order: OrderWithSteps): MessageInitShape<typeof GetOrderResponseSchema> {
  const { orderId, chainId } = order
  const base = { orderId, chainId: BigInt(chainId), state: STATE_NUMBERS[order.state] }
  if (order.state === 'NONE') return base
  return {
    ...base,
    user: toCachedChecksumAddress(order.user),
    solver: toCachedChecksumAddress(order.solver),
    ...toTerms(order),
    ...toSteps(order.steps),
  }
}

/** The message of an order in a list. */
export function toListedOrderMessage(order: ListedOrder): MessageInitShape<typeof OrderSchema> {
  const { orderId, chainId, state, user, solver, terms, steps } = order
  return {
    orderId,
    chainId: BigInt(chainId),
    state: STATE_NUMBERS[state],
    user: toCachedChecksumAddress(user),
    ...(solver && { solver: toCachedChecksumAddress(solver) }),
    ...(terms && toTerms(terms)),
    ...toSteps(steps),
  }
}

function toTerms(terms: OrderTerms) {
  return {
    inputToken: toCachedChecksumAddress(terms.inputToken),
    inputAmount: terms.inputAmount.toString(),
    outputToken: toCachedChecksumAddress(terms.outputToken),
    outputAmount: terms.outputAmount.toString(),
    outputChainId: BigInt(terms.outputChainId),
    fillDeadline: terms.fillDeadline,
  }
}

function toSteps({ deposited, settled, refunded }: OrderSteps) {
  return {
    ...(deposited && { deposited: toStep(deposited) }),
    ...(settled && { settled: toStep(settled) }),
    ...(refunded && { refunded: toStep(refunded) }),
  }
}

function toStep({
  blockNumber,
  blockTime,
  transactionHash,
}: OrderStep): MessageInitShape<typeof OrderStepSchema> {
  return {
    blockNumber: BigInt(blockNumber),
    ...(blockTime !== undefined && { blockTime: BigInt(blockTime) }),
    ...(transactionHash && { transactionHash }),
  }
}
