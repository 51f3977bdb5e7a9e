import type { KnownOrder as DomainOrder, OrderState as DomainState } from '../../../src/domain/order.js'
import { readAddress, readBytes32, readEnum, readInteger, readMessage, readUint256 } from './answer-fields.js'
import type { UnknownText } from './messages.js'

/** State of an order on the settlement contract. A newer instance may have further ones. */
export type OrderState = DomainState | UnknownText

/** An order as the settlement contract has it. Amounts in the token's smallest unit. */
export interface KnownOrder extends Omit<DomainOrder, 'state'> {
  readonly state: DomainOrder['state'] | UnknownText
}

/** An order. The contract does not know one with the state NONE. */
export type Order = KnownOrder | (Pick<DomainOrder, 'chainId' | 'orderId'> & { readonly state: 'NONE' })

/** Reads an order. @throws UnreadableAnswer */
export function readOrder(answer: unknown): Order {
  const message = readMessage<'GetOrderResponse'>(answer)
  const state = readEnum<DomainState>(message.state)
  const chainId = readInteger(message.chainId)
  const orderId = readBytes32(message.orderId)
  if (state === 'NONE') return { state: 'NONE', chainId, orderId }
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
