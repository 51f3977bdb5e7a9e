import { isOverflow } from '../../../protocol/src/node/revert.js'
import { settleCall, settlementCall } from '../chain/calls.js'
import type { SolverOptions } from '../solver-options.js'
import type { StoredOrder } from '../state.js'
import { MAX_REVERTS } from './deposits.js'
import { endOrder, type OrderParts } from './order-end.js'
import { type DuePayment, lookAtOrder } from './order-look.js'
import { createSlots, type Urgency } from './slots.js'

/** Builds the payments of orders, of which so many are made at once. @param urgencyOf how much an order risks */
export function createOrderPayments(
  parts: OrderParts,
  urgencyOf: (order: StoredOrder, deadline: number) => Urgency,
) {
  const { chain, state, payments, metrics, deposits, signal } = parts
  const { chainId } = chain
  const paying = createSlots(chain.maxPayments)

  /** Sends the payment and follows it. After a restart the same one is sent again, never a second one. */
  async function pay(order: StoredOrder, { deadline }: DuePayment): Promise<void> {
    await paying.run(urgencyOf(order, deadline), async () => {
      // It may have waited.
      const due = await lookAtOrder(parts, order)
      if (due === undefined) return
      await send(order, due)
      metrics.paymentsSent++
      await follow(order, due.deadline)
    })
  }

  /** @throws Error for a quote that is being cancelled, and for an order that the contract cannot pay any more */
  async function send({ orderId }: StoredOrder, { deposit }: DuePayment): Promise<void> {
    const signed = deposit === 'ADDRESS' ? state.quote(orderId) : undefined
    const call = signed === undefined ? settlementCall(chain, 'fill', [orderId]) : settleCall(chain, signed)
    try {
      await payments.send(orderId, call, () => {
        if (signed !== undefined && parts.isCancelling(signed.quote.nonce))
          throw new Error(`the quote of order ${orderId} is being cancelled`)
      })
    } catch (error) {
      if (signed !== undefined || !isOverflow(error)) throw error
      throw new Error(
        `order ${orderId} cannot be filled: the contract has released the bond that was reserved for it (Panic 17)`,
        { cause: error },
      )
    }
  }

  /** @throws Error when it has reverted, so that the next one is sent later */
  async function follow(order: StoredOrder, deadline: number): Promise<void> {
    const { orderId } = order
    const ended = await payments.follow(orderId, deadline)
    if (ended?.outcome === 'success')
      await endOrder(parts, order, 'FILLED', { isNonceUsed: true, payment: ended })
    else if (ended !== undefined) payments.forget(orderId)
    if (ended?.outcome !== 'reverted') return
    metrics.paymentsReverted++
    deposits.of(orderId).reverts++
    const what = deposits.hasGivenUp(orderId)
      ? ` for the ${MAX_REVERTS}th time, and is not sent any more`
      : ''
    throw new Error(`the payment ${ended.hash} of order ${orderId} reverted${what}`)
  }

  return {
    pay,
    /** A stopped process may have left more payments than the limit allows. */
    followNow: (order: StoredOrder) => paying.runNow(() => follow(order, order.fillDeadline)),
    /** Leaves the payment to the market maker. @throws what its `fill` throws */
    async leave(
      fill: NonNullable<SolverOptions['fill']>,
      order: StoredOrder,
      due: DuePayment,
    ): Promise<void> {
      const { orderId } = order
      const { deposit } = due
      const payNow = async () => {
        await pay(order, due)
        signal.throwIfAborted()
        if (state.order(orderId)?.status === 'OPEN') throw new Error(`the payment of order ${orderId} failed`)
      }
      await fill({ chainId, orderId, deposit, signed: state.quote(orderId), signal, fill: payNow })
      const left = state.order(orderId)
      if (left?.status === 'OPEN')
        await endOrder(parts, left, 'LEFT', { isNonceUsed: deposit === 'CONTRACT' })
    },
  }
}
