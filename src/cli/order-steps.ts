import type { OrderState, OrderStep, OrderSteps } from '@quote-aggregator/client'
import { formatTime } from './printable.js'

/** The step with which an order came into its state; undefined until its event is published. */
export function stepOf(order: OrderSteps & { readonly state: OrderState }): OrderStep | undefined {
  switch (order.state) {
    case 'DEPOSITED':
      return order.deposited
    case 'SETTLED':
      return order.settled
    case 'REFUNDED':
      return order.refunded
    default:
      return undefined
  }
}

/** A step on one line, for a person. */
export function formatStep({ blockNumber, blockTime, transactionHash }: OrderStep): string {
  const time = blockTime === undefined ? [] : [formatTime(blockTime)]
  const transaction = transactionHash === undefined ? [] : [`transaction ${transactionHash}`]
  return [...time, `block ${blockNumber}`, ...transaction].join(', ')
}
