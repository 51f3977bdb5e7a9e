import { type ListOrdersRequest, OrderService } from '../../gen/aggregator/v1/order_pb.js'
import type { Chain } from '../chain/chain.js'
import { chainNotSupported } from '../domain/errors.js'
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../domain/field-rules.js'
import type { OrderFilter } from '../domain/order.js'
import type { OrderStore } from '../store/order-store.js'
import { LISTED_STATES, toListedOrderMessage, toOrderMessage } from './convert-orders.js'
import type { Fields } from './fields.js'
import { type Method, unaryMethod } from './method.js'
import { readPageToken, writePageToken } from './page-token.js'

interface OrderServiceOptions {
  readonly chains: ReadonlyMap<number, Chain>
  readonly orders: Pick<OrderStore, 'list'>
}

/** The methods of OrderService. */
export function createOrderService({ chains, orders }: OrderServiceOptions): Method[] {
  const getOrder = unaryMethod(OrderService.method.getOrder, {
    limit: 'order',
    read: (message, fields) => ({
      chainId: Number(message.chainId),
      orderId: fields.bytes32('orderId', message.orderId),
    }),
    async handle({ chainId, orderId }) {
      const chain = chains.get(chainId)
      if (chain === undefined) throw chainNotSupported(chainId, [...chains.keys()])
      return toOrderMessage(await chain.readOrder(orderId))
    },
  })

  const listOrders = unaryMethod(OrderService.method.listOrders, {
    limit: 'order',
    read(message, fields) {
      const chainId = Number(message.chainId)
      const filter = readFilter(message, fields)
      const pageSize = Math.min(message.pageSize || DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE)
      const after = message.pageToken ? readPageToken(message.pageToken, chainId, filter) : undefined
      // Filters that cannot be read belong to no token.
      const areFiltersRead = !fields.violations.some(({ field }) => FILTERS.has(field))
      if (message.pageToken && after === undefined && areFiltersRead)
        fields.addViolation('pageToken', 'must be the nextPageToken of a page with the same filters')
      return { chainId, filter, pageSize, after }
    },
    async handle({ chainId, filter, pageSize, after }) {
      const page = await orders.list(chainId, filter, after, pageSize)
      return {
        orders: page.orders.map(toListedOrderMessage),
        nextPageToken: page.next && writePageToken(page.next, chainId, filter),
      }
    },
  })

  return [getOrder, listOrders]
}

const FILTERS: ReadonlySet<string> = new Set(['user', 'solver', 'state'])

function readFilter({ user, solver, state }: ListOrdersRequest, fields: Fields): OrderFilter {
  return {
    ...(user !== undefined && { user: fields.address('user', user) }),
    ...(solver !== undefined && { solver: fields.address('solver', solver) }),
    ...(state !== undefined && { state: fields.choice('state', state, LISTED_STATES) }),
  }
}
