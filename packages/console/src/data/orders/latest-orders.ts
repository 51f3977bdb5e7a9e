import { create } from '@bufbuild/protobuf'
import {
  type Order,
  OrderSchema,
  OrderState,
  type OrderStep,
  OrderStepSchema,
} from '../../../../../gen/aggregator/v1/order_pb.js'
import type { OrderEvent } from '../stream-messages.js'

/** The step of an order that an event is, and the state of the order after it. */
const KINDS = new Map<string, readonly ['deposited' | 'settled' | 'refunded', OrderState]>([
  ['Deposited', ['deposited', OrderState.DEPOSITED]],
  ['Settled', ['settled', OrderState.SETTLED]],
  ['Refunded', ['refunded', OrderState.REFUNDED]],
])

/**
 * The latest orders as they are after the events that came since they were read. So an instance need not list them again for each
 * event at each console.
 * @param listed newest first
 * @param latestEvents newest first
 */
export function withEvents(listed: readonly Order[], latestEvents: readonly OrderEvent[]): Order[] {
  let orders = [...listed]
  for (const event of latestEvents.toReversed()) {
    const index = orders.findIndex(({ orderId }) => orderId === event.orderId)
    if (event.type === 'Reverted' && event.event === 'Deposited')
      orders = [removed(event), ...orders.filter((_, at) => at !== index)].toSorted(byBlock)
    else if (index >= 0) orders = orders.with(index, withStep(orders[index] as Order, event))
    else if (event.type === 'Deposited' && isNewest(event, orders)) orders = [deposited(event), ...orders]
  }
  return orders
}

/**
 * Whether an event needs more than the event itself: the list must be read again.
 * @param shown ids of the orders that were last shown
 * @param latestEvents with the event itself, and with those that came since
 */
export function needsList(
  { type, orderId }: OrderEvent,
  shown: ReadonlySet<string>,
  latestEvents: readonly OrderEvent[],
): boolean {
  if (type === 'Reverted') return true
  if (type === 'Deposited' || shown.has(orderId)) return false
  return !latestEvents.some((event) => event.type === 'Deposited' && event.orderId === orderId)
}

/** The first step of an order that is known: of a transfer to an address, its end. */
export const firstStep = ({ deposited, settled, refunded }: Order): OrderStep | undefined =>
  deposited ?? settled ?? refunded

/** When a step was, Unix time in milliseconds; undefined while it is not known. */
export const timeOf = (step: OrderStep | undefined) =>
  step?.blockTime === undefined ? undefined : Number(step.blockTime) * 1000

/** An order whose deposit a reorganisation has removed, where it was. */
const removed = (event: OrderEvent): Order => ({
  ...deposited({ ...event, type: 'Deposited' }),
  state: OrderState.NONE,
})

const byBlock = (a: Order, b: Order) =>
  Number((firstStep(b)?.blockNumber ?? 0n) - (firstStep(a)?.blockNumber ?? 0n))

/** An event that was missing for long has an old block. */
function isNewest({ blockNumber }: OrderEvent, [newest]: readonly Order[]): boolean {
  const step = newest && firstStep(newest)
  return step === undefined || BigInt(blockNumber) >= step.blockNumber
}

function deposited(event: OrderEvent): Order {
  const { orderId, user = '', solver, inputToken, inputAmount, outputToken, outputAmount } = event
  const order = create(OrderSchema, { orderId, chainId: BigInt(event.chainId), user })
  return withStep(Object.assign(order, { solver, inputToken, inputAmount, outputToken, outputAmount }), event)
}

function withStep(order: Order, event: OrderEvent): Order {
  const [step, state] = KINDS.get(event.type) ?? []
  if (step === undefined || state === undefined) return order
  // An event that was missing for long may come after a later one of its order.
  return { ...order, state: Math.max(order.state, state), [step]: stepOf(event) }
}

function stepOf({ blockNumber, blockTime, transactionHash }: OrderEvent): OrderStep {
  return create(OrderStepSchema, {
    blockNumber: BigInt(blockNumber),
    ...(blockTime !== undefined && { blockTime: BigInt(blockTime) }),
    ...(transactionHash !== undefined && { transactionHash }),
  })
}
