import type { Action, Order } from './order-actions.js'

/** Orders that are deposited and neither filled nor refunded, by their id. */
export type OpenOrders = Map<Order['orderId'], Order>

/** What an action does to the open orders. */
export function apply(open: OpenOrders, { kind, order }: Action): void {
  if (kind === 'deposit') open.set(order.orderId, order)
  if (kind === 'fill' || kind === 'refund') open.delete(order.orderId)
}

/** Remembers the actions of each block, so that they can be removed with it. */
export function createOrderBook() {
  let history: { blockNumber: number; actions: readonly Action[] }[] = []
  let open: OpenOrders = new Map()

  return {
    record(blockNumber: number, actions: readonly Action[]) {
      history.push({ blockNumber, actions })
      for (const action of actions) apply(open, action)
    },
    /** Removes the blocks above `blockNumber`. @returns their actions, in order */
    truncate(blockNumber: number): Action[] {
      const dropped = history.filter((block) => block.blockNumber > blockNumber)
      history = history.filter((block) => block.blockNumber <= blockNumber)
      open = this.openAt(blockNumber)
      return dropped.flatMap(({ actions }) => actions)
    },
    /** The actions in the blocks above `blockNumber`, in order. */
    actionsAfter: (blockNumber: number): Action[] =>
      history.filter((block) => block.blockNumber > blockNumber).flatMap(({ actions }) => actions),
    /** The open orders when `blockNumber` was the last block. */
    openAt(blockNumber: number): OpenOrders {
      const then: OpenOrders = new Map()
      for (const block of history) {
        if (block.blockNumber <= blockNumber) for (const action of block.actions) apply(then, action)
      }
      return then
    },
    /** A copy of the current open orders. */
    open: (): OpenOrders => new Map(open),
  }
}
