import { OrderService } from '../../gen/aggregator/v1/order_pb.js'
import type { Chain } from '../chain/chain.js'
import { chainNotSupported } from '../domain/errors.js'
import { toOrderMessage } from './convert.js'
import { type Method, unaryMethod } from './method.js'
import { weakMemoize } from './weak-memoize.js'

/** The methods of OrderService. */
export function createOrderService(chains: ReadonlyMap<number, Chain>): Method[] {
  // An order stays the same object until an event changes it.
  const toResponse = weakMemoize(toOrderMessage)

  const getOrder = unaryMethod(OrderService.method.getOrder, {
    limit: 'order',
    read: (message, fields) => ({
      chainId: Number(message.chainId),
      orderId: fields.bytes32('orderId', message.orderId),
    }),
    handle({ chainId, orderId }) {
      const chain = chains.get(chainId)
      if (chain === undefined) throw chainNotSupported([...chains.keys()])
      const order = chain.readOrder(orderId)
      return order instanceof Promise ? order.then(toResponse) : toResponse(order)
    },
  })

  return [getOrder]
}
