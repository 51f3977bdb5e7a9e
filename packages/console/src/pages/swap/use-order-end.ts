import { useEffect } from 'preact/hooks'
import { OrderState } from '../../../../../gen/aggregator/v1/order_pb.js'
import { endOf } from '../../data/orders/order-end.js'
import { useOrder } from '../../data/orders/use-order.js'
import { reportDeposit, reportEnd, type TakenOffer } from './taken-offer.js'

const FILL_POLL_MS = 3000

/** Follows the order from the deposit until its end, also when the wallet has lost its transaction. */
export function useOrderEnd({ chain, offer, steps, wanted }: TakenOffer) {
  const { orderId } = offer
  const isWanted = steps.some(({ name, at }) => name === 'deposit' && at !== undefined)
  const order = useOrder(chain.chainId, isWanted ? orderId : undefined, FILL_POLL_MS)
  const end = order.data && endOf(order.data, wanted.mode === 'ADDRESS')
  const isDeposited = order.data?.state === OrderState.DEPOSITED
  const last = order.data?.settled ?? order.data?.refunded
  useEffect(() => {
    if (isDeposited) reportDeposit(orderId)
    if (end !== undefined) reportEnd(orderId, end !== 'ended', last?.transactionHash ?? '')
  }, [isDeposited, end, orderId])
  return end
}
