import { ORDER_STATES, type Order } from '../../../src/domain/order.js'
import {
  readAddress,
  readBytes32,
  readChoice,
  readInteger,
  readMessage,
  readUint256,
} from './answer-fields.js'

/** Reads an order. @throws AggregatorError ANSWER_INVALID */
export function readOrder(answer: unknown): Order {
  const message = readMessage<'GetOrderResponse'>(answer)
  const state = readChoice(ORDER_STATES, message.state)
  const chainId = readInteger(message.chainId)
  const orderId = readBytes32(message.orderId)
  if (state === 'NONE') return { state, chainId, orderId }
  return {
    state,
    chainId,
    orderId,
    user: readAddress(message.user),
    solver: readAddress(message.solver),
    inputToken: readAddress(message.inputToken),
    inputAmount: readUint256(message.inputAmount),
    outputToken: readAddress(message.outputToken),
    outputAmount: readUint256(message.outputAmount),
    outputChainId: readInteger(message.outputChainId),
    fillDeadline: readInteger(message.fillDeadline),
  }
}
