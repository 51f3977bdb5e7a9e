import type { KnownOrder, Order, OrderState, OrderStep, OrderSteps } from '@quote-aggregator/client'
import type { FormatAmount } from './amounts.js'
import type { Display } from './print-result.js'
import { formatTime } from './printable.js'

const STEPS = { DEPOSITED: 'deposited', SETTLED: 'settled', REFUNDED: 'refunded' } as const

/** The step with which an order came into its state; undefined until its event is published. */
export function stepOf(order: OrderSteps & { readonly state: OrderState }): OrderStep | undefined {
  const step = Object.entries(STEPS).find(([state]) => state === order.state)?.[1]
  return step && order[step]
}

/** A step on one line, for a person. */
function formatStep({ blockNumber, blockTime, transactionHash }: OrderStep): string {
  const time = blockTime === undefined ? [] : [formatTime(blockTime)]
  const transaction = transactionHash === undefined ? [] : [`transaction ${transactionHash}`]
  return [...time, `block ${blockNumber}`, ...transaction].join(', ')
}

/** What an order sells and buys, for a person; undefined what the instance does not know yet. */
export function formatTerms(
  order: { readonly [K in keyof KnownOrder]?: KnownOrder[K] | undefined },
  format: FormatAmount,
) {
  const { chainId = 0, inputToken, inputAmount, outputToken, outputAmount, outputChainId = chainId } = order
  return {
    sells: inputToken && format(inputAmount ?? 0n, inputToken, chainId),
    buys: outputToken && format(outputAmount ?? 0n, outputToken, outputChainId),
  }
}

/** An order with its steps. */
export function renderOrder(order: Order, format: FormatAmount, { fields }: Display): string {
  const head = [
    ['order id', order.orderId],
    ['chain', order.chainId],
    ['state', order.state],
  ] as const
  if (!('user' in order)) return fields(head)
  const { sells, buys } = formatTerms(order, format)
  const steps = Object.values(STEPS).map((step) => [step, order[step] && formatStep(order[step])] as const)
  return fields([
    ...head,
    ['user', order.user],
    ['solver', order.solver],
    ['sells', sells],
    ['buys', `${buys} on chain ${order.outputChainId}`],
    ['filled by', formatTime(order.fillDeadline)],
    ...steps,
  ])
}
