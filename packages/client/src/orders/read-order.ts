import type { Hex } from 'viem'
import type {
  KnownOrder as DomainOrder,
  OrderState as DomainState,
} from '../../../protocol/src/orders/order.js'
import {
  readAddress,
  readBoolean,
  readBytes32,
  readEnum,
  readInteger,
  readMessage,
  readOptional,
  readUint256,
} from '../calls/answer-fields.js'
import type { UnknownText, Untrusted } from '../calls/message-types.js'

/** State of an order on the settlement contract. A newer instance may have further ones. */
export type OrderState = DomainState | UnknownText

/** The event that moved an order into a state. */
export interface OrderStep {
  readonly blockNumber: number
  /** Time of the block, Unix time in seconds. Undefined at an instance that does not send it. */
  readonly blockTime: number | undefined
  /** Undefined in the same case as `blockTime`. */
  readonly transactionHash: Hex | undefined
}

/** The steps of an order. One is undefined until the instance has published its event, and after a reorganisation removed it. */
export interface OrderSteps {
  /** Always undefined for an address deposit, of which the contract has no event. */
  readonly deposited: OrderStep | undefined
  readonly settled: OrderStep | undefined
  readonly refunded: OrderStep | undefined
}

/** An order as the settlement contract has it. Amounts in the token's smallest unit. */
export interface KnownOrder extends Omit<DomainOrder, 'state'>, OrderSteps {
  readonly state: DomainOrder['state'] | UnknownText
  /** Whether no later state follows: SETTLED or REFUNDED. Undefined at an instance that does not say it, as the next one. */
  readonly isTerminal: boolean | undefined
  /** Whether anyone can call `refund` for it: DEPOSITED, and the chain's time is past `fillDeadline`. */
  readonly isRefundable: boolean | undefined
}

/** An order. The contract does not know one with the state NONE. */
export type Order = KnownOrder | (Pick<DomainOrder, 'chainId' | 'orderId'> & { readonly state: 'NONE' })

/** The fields that an order in a list may lack. */
type TermsOfOrder =
  | 'solver'
  | 'inputToken'
  | 'inputAmount'
  | 'outputToken'
  | 'outputAmount'
  | 'outputChainId'
  | 'fillDeadline'

/**
 * An order of a list. The solver and the terms are undefined for an order with an address deposit that the instance could not read
 * from the contract yet.
 */
export type ListedOrder = Omit<KnownOrder, TermsOfOrder> & {
  readonly [Field in TermsOfOrder]: KnownOrder[Field] | undefined
}

/**
 * Reads an order.
 * @param asked what it was asked for with. Other instances of the protocol do not repeat it, and pay on the chain of the deposit
 * @throws UnreadableAnswer
 */
export function readOrder(answer: unknown, asked: Pick<Order, 'chainId' | 'orderId'>): Order {
  const said = readMessage<'GetOrderResponse'>(answer)
  const message = { ...asked, outputChainId: asked.chainId, ...said }
  const { state, chainId, orderId } = message
  if (state === 'NONE') return { state, chainId: readInteger(chainId), orderId: readBytes32(orderId) }
  // With this reader no field is undefined.
  return readFields(message, (value, read) => read(value)) as KnownOrder
}

/** Reads an order of a list. @throws UnreadableAnswer */
export function readListedOrder(answer: unknown): ListedOrder {
  return readFields(readMessage<'Order'>(answer), readOptional)
}

/** @param readTerm reads the solver or a term */
function readFields(
  message: Untrusted<'Order'>,
  readTerm: <T>(value: unknown, read: (value: unknown) => T) => T | undefined,
): ListedOrder {
  return {
    state: readEnum(message.state),
    chainId: readInteger(message.chainId),
    orderId: readBytes32(message.orderId),
    user: readAddress(message.user),
    solver: readTerm(message.solver, readAddress),
    inputToken: readTerm(message.inputToken, readAddress),
    inputAmount: readTerm(message.inputAmount, readUint256),
    outputToken: readTerm(message.outputToken, readAddress),
    outputAmount: readTerm(message.outputAmount, readUint256),
    outputChainId: readTerm(message.outputChainId, readInteger),
    fillDeadline: readTerm(message.fillDeadline, readInteger),
    isTerminal: readOptional(message.isTerminal, readBoolean),
    isRefundable: readOptional(message.isRefundable, readBoolean),
    deposited: readOptional(message.deposited, readStep),
    settled: readOptional(message.settled, readStep),
    refunded: readOptional(message.refunded, readStep),
  }
}

function readStep(answer: unknown): OrderStep {
  const { blockNumber, blockTime, transactionHash } = readMessage<'OrderStep'>(answer)
  return {
    blockNumber: readInteger(blockNumber),
    blockTime: readOptional(blockTime, readInteger),
    transactionHash: readOptional(transactionHash, readBytes32),
  }
}
