import { type GetOrderResponse, OrderState } from '../../../../../gen/aggregator/v1/order_pb.js'

/** How an order has ended, as far as its state says. */
export type OrderEnd = 'filled' | 'refunded' | 'ended'

/**
 * What the end of an order says to its user. REFUNDED says of a deposit that it is back. Where none was seen, as of every transfer to
 * a deposit address, it says only that the order has ended: anyone can end it, and tokens may come later.
 * @returns undefined before the end
 */
export function endOf(
  { state, deposited }: Pick<GetOrderResponse, 'state' | 'deposited'>,
  isAddress: boolean,
): OrderEnd | undefined {
  if (state === OrderState.SETTLED) return 'filled'
  if (state !== OrderState.REFUNDED) return undefined
  return deposited === undefined || isAddress ? 'ended' : 'refunded'
}
