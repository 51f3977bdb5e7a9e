import type {
  KnownOrder as DomainOrder,
  OrderState as DomainState,
} from '../../../protocol/src/orders/order.js'
import { UnreadableAnswer } from '../calls/aggregator-error.js'
import {
  messageReader,
  optional,
  type ReadBy,
  type Reader,
  type Readers,
  readAddress,
  readBoolean,
  readBytes32,
  readEnum,
  readInteger,
  readMessage,
  readUint256,
} from '../calls/answer-fields.js'
import type { UnknownText } from '../calls/message-types.js'

/** State of an order on the settlement contract. A newer instance may have further ones. */
export type OrderState = DomainState | UnknownText

/** The event that moved an order into a state. */
export interface OrderStep extends ReadBy<typeof STEP> {}
const STEP = {
  blockNumber: readInteger,
  /** Time of the block, Unix time in seconds. Undefined at an instance that does not send it. */
  blockTime: optional(readInteger),
  /** Undefined in the same case as `blockTime`. */
  transactionHash: optional(readBytes32),
} satisfies Readers<'OrderStep'>

const readStep = optional(messageReader(STEP))

/** The steps of an order. One is undefined until the instance has published its event, and after a reorganisation removed it. */
export interface OrderSteps extends ReadBy<typeof STEPS> {}
const STEPS = {
  /** Always undefined for an address deposit, of which the contract has no event. */
  deposited: readStep,
  settled: readStep,
  refunded: readStep,
}

/** What a list has of every order. */
const FACTS = {
  state: readEnum<DomainOrder['state']>,
  chainId: readInteger,
  orderId: readBytes32,
  user: readAddress,
  /** Whether the order has ended: SETTLED or REFUNDED. Undefined at an instance that does not say it, as the next one. */
  isTerminal: optional(readBoolean),
  /** Whether anyone can call `refund` for it: DEPOSITED, and the chain's time is past `fillDeadline`. */
  isRefundable: optional(readBoolean),
  ...STEPS,
}

/** The fields that an order in a list may lack. */
const TERMS = {
  solver: readAddress,
  inputToken: readAddress,
  inputAmount: readUint256,
  outputToken: readAddress,
  outputAmount: readUint256,
  outputChainId: readInteger,
  /** Unix time in seconds. */
  fillDeadline: readInteger,
}

/** An order as the settlement contract has it. Amounts in the token's smallest unit. */
export interface KnownOrder extends ReadBy<typeof FACTS & typeof TERMS> {}

/** An order. The contract does not know one with the state NONE. */
export type Order = KnownOrder | (Pick<DomainOrder, 'chainId' | 'orderId'> & { readonly state: 'NONE' })

/**
 * An order of a list. The solver and the terms are undefined for an order with an address deposit that the instance could not read
 * from the contract yet.
 */
export type ListedOrder = ReadBy<typeof FACTS> & {
  readonly [Field in keyof typeof TERMS]: KnownOrder[Field] | undefined
}

const readKnownOrder = messageReader({ ...FACTS, ...TERMS } satisfies Readers<'Order'>)

/**
 * Reads an order.
 * @param asked what it was asked for with. Other instances of the protocol do not repeat it, and pay on the chain of the deposit
 * @throws UnreadableAnswer, also for another order than the one that was asked for
 */
export function readOrder(answer: unknown, asked: Pick<Order, 'chainId' | 'orderId'>): Order {
  const message = { ...asked, outputChainId: asked.chainId, ...readMessage<'GetOrderResponse'>(answer) }
  const chainId = readInteger(message.chainId)
  const orderId = readBytes32(message.orderId)
  if (chainId !== asked.chainId || orderId !== readBytes32(asked.orderId))
    throw new UnreadableAnswer('another order than the one that was asked for')
  return message.state === 'NONE' ? { state: 'NONE', chainId, orderId } : readKnownOrder(message)
}

const terms = Object.entries<Reader<unknown>>(TERMS).map(([name, read]) => [name, optional(read)])

/** Reads an order of a list. @throws UnreadableAnswer */
export const readListedOrder = messageReader({
  ...FACTS,
  ...Object.fromEntries(terms),
}) as Reader<ListedOrder>
