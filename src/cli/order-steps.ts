import type { OrderState, OrderStep, OrderSteps } from '@quote-aggregator/client'
import { formatTime } from './printable.js'

const STEPS: Readonly<Partial<Record<OrderState, keyof OrderSteps>>> = {
  DEPOSITED: 'deposited',
  SETTLED: 'settled',
  REFUNDED: 'refunded',
}

/** The step with which an order came into its state; undefined until its event is published. */
export function stepOf(order: OrderSteps & { readonly state: OrderState }): OrderStep | undefined {
  const step = STEPS[order.state]
  return step && order[step]
}

/** A step on one line, for a person. */
export function formatStep({ blockNumber, blockTime, transactionHash }: OrderStep): string {
  const time = blockTime === undefined ? [] : [formatTime(blockTime)]
  const transaction = transactionHash === undefined ? [] : [`transaction ${transactionHash}`]
  return [...time, `block ${blockNumber}`, ...transaction].join(', ')
}
