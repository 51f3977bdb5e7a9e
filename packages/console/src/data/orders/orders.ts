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

/** Reads a page of orders, newest first. */
export function listOrders(
  chainId: bigint,
  filter: OrderFilter,
  signal: AbortSignal,
): Promise<ListOrdersResponse> {
  const set = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined))
  return orderService.listOrders({ chainId, ...set }, { signal })
}

/** Time from the deposit to the fill, in milliseconds; undefined without a fill, and while it is not known. */
export function timeToFill({ deposited, settled }: Pick<Order, 'deposited' | 'settled'>): number | undefined {
  const [from, to] = [timeOf(deposited), timeOf(settled)]
  return from === undefined || to === undefined ? undefined : to - from
}

/** The states in words for people. A list has no order without a deposit, unless that was removed. */
export const STATE_WORDS: Readonly<Record<OrderState, string>> = {
  [OrderState.UNSPECIFIED]: 'unknown',
  [OrderState.NONE]: 'removed by a reorganisation',
  [OrderState.DEPOSITED]: 'deposited',
  [OrderState.SETTLED]: 'settled',
  [OrderState.REFUNDED]: 'refunded',
}
