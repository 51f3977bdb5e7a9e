import type { Address } from 'viem'
import { MAX_PAGE_SIZE } from '../../../protocol/src/field-rules.js'
import { KNOWN_ORDER_STATES, type KnownOrder } from '../../../protocol/src/orders/order.js'
import { UnreadableAnswer } from '../calls/aggregator-error.js'
import { readList, readMessage, readText } from '../calls/answer-fields.js'
import { addressProblem, choiceProblem, type Problem } from '../calls/check-arguments.js'
import type { Messages } from '../calls/message-types.js'
import { checkParams, PAGE_PROBLEMS, toQuery } from '../calls/request-path.js'
import { type ListedOrder, readListedOrder } from './read-order.js'

/** Selects orders. An order must match every filter that is given. */
export interface ListOrdersParams {
  /** Every user when left out, or undefined, as while no wallet is connected. */
  readonly user?: Address | undefined
  readonly solver?: Address | undefined
  readonly state?: KnownOrder['state'] | undefined
  /** Most orders of a page, up to 200. When left out, 50 for `listOrders` and 200 for `listAllOrders`. */
  readonly pageSize?: number | undefined
  /** The `nextPageToken` of a page with the same filters. The first page when left out. */
  readonly pageToken?: string | undefined
}

/** A page of orders, newest first. */
export interface OrderPage {
  readonly orders: readonly ListedOrder[]
  /** Undefined on the last page. */
  readonly nextPageToken: string | undefined
}

/** The check of each parameter. */
const PROBLEMS: Readonly<Record<keyof Omit<Messages['ListOrdersRequest'], 'chainId'>, Problem>> = {
  user: addressProblem,
  solver: addressProblem,
  state: (value) => choiceProblem(KNOWN_ORDER_STATES, value),
  ...PAGE_PROBLEMS,
}

/** Makes the query of a request. @throws AggregatorError INVALID_ARGUMENT, also for another key */
export function toOrdersQuery(params: ListOrdersParams): string {
  checkParams(params, PROBLEMS)
  return toQuery(params)
}

/** Reads a page. @param pageToken of the page itself @throws UnreadableAnswer */
export function readOrderPage(answer: unknown, pageToken: string | undefined): OrderPage {
  const { orders, nextPageToken } = readMessage<'ListOrdersResponse'>(answer)
  const next = readText(nextPageToken) || undefined
  // A list of such pages would not end.
  if (next !== undefined && next === pageToken)
    throw new UnreadableAnswer('a page of orders that is its own next page')
  return { orders: readList(orders).map(readListedOrder), nextPageToken: next }
}

/** Yields each order, page by page. @param list reads a page */
export async function* listAllOrders(
  list: (params: ListOrdersParams) => Promise<OrderPage>,
  params: ListOrdersParams,
): AsyncGenerator<ListedOrder, void, void> {
  const pageSize = params.pageSize ?? MAX_PAGE_SIZE
  let { pageToken } = params
  do {
    const page = await list({ ...params, pageSize, pageToken })
    yield* page.orders
    pageToken = page.nextPageToken
  } while (pageToken !== undefined)
}
