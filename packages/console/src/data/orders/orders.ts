import { type ListOrdersResponse, type Order, OrderState } from '../../../../../gen/aggregator/v1/order_pb.js'
import { orderService } from '../api.js'
import { timeOf } from './latest-orders.js'

/** What a list is limited to. */
export interface OrderFilter {
  readonly user?: string | undefined
  readonly solver?: string | undefined
  readonly state?: OrderState | undefined
  readonly pageSize?: number
  readonly pageToken?: string | undefined
}

/** The orders of the transactions that were listed here, by hash. */
const orderIds = new Map<string, string>()
const MAX_ORDER_IDS = 2000

/** Reads a page of orders, newest first. */
export async function listOrders(
  chainId: bigint,
  filter: OrderFilter,
  signal: AbortSignal,
): Promise<ListOrdersResponse> {
  const set = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined))
  const answer = await orderService.listOrders({ chainId, ...set }, { signal })
  for (const { orderId, deposited, settled, refunded } of answer.orders.toReversed())
    for (const step of [deposited, settled, refunded])
      if (step?.transactionHash !== undefined) orderIds.set(step.transactionHash, orderId)
  for (const hash of [...orderIds.keys()].slice(0, -MAX_ORDER_IDS)) orderIds.delete(hash)
  return answer
}

/** @returns undefined for the transaction of an order that was not listed here */
export const listedOrderOf = (transactionHash: string) => orderIds.get(transactionHash)

/** Time from the deposit to the fill, in milliseconds; undefined without a fill, and while it is not known. */
export function timeToFill({ deposited, settled }: Pick<Order, 'deposited' | 'settled'>): number | undefined {
  const [from, to] = [timeOf(deposited), timeOf(settled)]
  return from === undefined || to === undefined ? undefined : to - from
}

/** The states in words for people. */
export const STATE_WORDS: Readonly<Record<OrderState, string>> = {
  [OrderState.UNSPECIFIED]: 'unknown',
  [OrderState.NONE]: 'not deposited',
  [OrderState.DEPOSITED]: 'deposited',
  [OrderState.SETTLED]: 'settled',
  [OrderState.REFUNDED]: 'refunded',
}
