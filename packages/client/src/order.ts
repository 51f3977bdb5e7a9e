import { type GetOrderResponse, OrderState as OrderStateNumber } from '../../../gen/aggregator/v1/order_pb.js'
import type { Order } from '../../../src/domain/order.js'
import {
  readAddress,
  readBytes32,
  readChoice,
  readInteger,
  readPresent,
  readUint256,
} from './answer-fields.js'

const ORDER_STATES = {
  [OrderStateNumber.NONE]: 'NONE',
  [OrderStateNumber.DEPOSITED]: 'DEPOSITED',
  [OrderStateNumber.SETTLED]: 'SETTLED',
  [OrderStateNumber.REFUNDED]: 'REFUNDED',
} as const

/** Reads an order. @throws AggregatorError ANSWER_INVALID */
export function readOrder(message: GetOrderResponse): Order {
  const state = readChoice(ORDER_STATES, message.state)
  const chainId = readInteger(message.chainId)
  const orderId = readBytes32(message.orderId)
  if (state === 'NONE') return { state, chainId, orderId }
  return {
    state,
    chainId,
    orderId,
    user: readAddress(readPresent(message.user, 'a user')),
    solver: readAddress(readPresent(message.solver, 'a solver')),
    inputToken: readAddress(readPresent(message.inputToken, 'an input token')),
    inputAmount: readUint256(readPresent(message.inputAmount, 'an input amount')),
    outputToken: readAddress(readPresent(message.outputToken, 'an output token')),
    outputAmount: readUint256(readPresent(message.outputAmount, 'an output amount')),
    outputChainId: readInteger(readPresent(message.outputChainId, 'an output chain')),
    fillDeadline: readPresent(message.fillDeadline, 'a fill deadline'),
  }
}
