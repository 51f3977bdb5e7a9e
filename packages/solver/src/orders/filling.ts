import type { Hex } from 'viem'
import type { ChainParts } from '../chain/chain-parts.js'
import type { StoredOrder } from '../state.js'
import { createDeposits, type DepositLog } from './deposits.js'
import type { OrderParts } from './order-end.js'
import { lookAtOrder } from './order-look.js'
import { createOrderPayments } from './order-payment.js'
import { createPaidOrders } from './paid-orders.js'
import { createSlots } from './slots.js'

/**
 * Pays the orders of a solver on one chain, each once. An order goes this way:
 * 1. Its deposit is found by a log, or by a look at what was quoted: `deposited`.
 * 2. `lookAtOrder` asks the chain until it has ended, or is to be paid. No step is repeated, since the chain decides at each.
 * 3. The payment is sent and followed (`order-payment.ts`), or left to the market maker.
 * 4. `endOrder` reports it, and ends its quote.
 * 5. `lookBack` reads it until the payment is deep, and opens it again after a reorganisation.
 */
export type Filling = ReturnType<typeof createFilling>

const MAX_DELAY_MS = 10_000

/** Builds the filling of a chain. @param isCancelling whether the nonce of a quote is being used up */
export function createFilling(chainParts: ChainParts, isCancelling: (nonce: bigint) => boolean) {
  const { chain, clock, state, ledger, payments, signal, onError } = chainParts
  const { chainId } = chain
  const deposits = createDeposits()
  const parts: OrderParts = { ...chainParts, deposits, isCancelling }
  const reading = createSlots(chain.maxPayments)
  const orderPayments = createOrderPayments(parts, urgencyOf)
  const paidOrders = createPaidOrders(parts, run)
  const running = new Map<Hex, Promise<void>>()

  /** What an order of a quote that the state has not costs when it is missed is not known here: it comes last. */
  function urgencyOf({ orderId }: StoredOrder, deadline: number) {
    const signed = state.quote(orderId)
    return { bond: signed === undefined ? 0n : ledger.bondOf(signed.quote), deadline }
  }

  function run(orderId: Hex): void {
    if (signal.aborted || running.has(orderId)) return
    const ended = keepTrying(orderId).finally(() => {
      running.delete(orderId)
      deposits.forget(orderId)
    })
    running.set(orderId, ended)
  }

  /** An order that cannot be paid is tried again until its deadline, and holds up no other one. */
  async function keepTrying(orderId: Hex): Promise<void> {
    let delayMs = chain.pollIntervalMs
    while (!signal.aborted) {
      const order = state.order(orderId)
      if (order === undefined || order.status !== 'OPEN') return
      try {
        if (await step(order)) delayMs = chain.pollIntervalMs
      } catch (error) {
        if (signal.aborted) return
        onError(error)
        delayMs = Math.min(2 * delayMs, MAX_DELAY_MS)
      }
      if (state.order(orderId)?.status !== 'OPEN') return
      await clock.sleep(delayMs, signal).catch(() => {})
    }
  }

  /** @returns whether something was done for the payment, so that the next look is due soon */
  async function step(order: StoredOrder): Promise<boolean> {
    if (payments.isUnderWay(order.orderId)) {
      await orderPayments.followNow(order)
      return true
    }
    const due = await reading.run(urgencyOf(order, order.fillDeadline), () => lookAtOrder(parts, order))
    if (due === undefined) return false
    if (parts.fill === undefined) await orderPayments.pay(order, due)
    else await orderPayments.leave(parts.fill, order, due)
    return true
  }

  return {
    /**
     * Pays an order if its deposit is there, or comes until the deadline. Known orders are ignored.
     * @param seenIn undefined for a deposit that was found without a log
     */
    deposited(orderId: Hex, fillDeadline: number, seenIn?: DepositLog): void {
      if (seenIn !== undefined) deposits.of(orderId).log = seenIn
      state.addOrder({ chainId, orderId, fillDeadline })
      run(orderId)
    },
    lookBack: paidOrders.lookBack,
    /** Goes on with the orders that the state has. */
    resume(): void {
      for (const { orderId } of state.orders(chainId, 'OPEN')) run(orderId)
    },
    /** Whether an order is not paid any more, since its payments revert. */
    hasGivenUp: deposits.hasGivenUp,
    /** The orders that are under way. */
    count: () => running.size,
    /** @returns when nothing runs any more, after the signal has aborted */
    async idle(): Promise<void> {
      await Promise.all(running.values())
    },
  }
}
