import type { Hex } from 'viem'
import { isOverflow } from '../../../protocol/src/node/revert.js'
import type { Quote } from '../../../protocol/src/quotes/quote.js'
import { settleCall, settlementCall } from '../chain/calls.js'
import type { ChainParts } from '../chain/chain-parts.js'
import { inPlace } from '../chain/pacing.js'
import { middleOf } from '../ending/ending-rules.js'
import type { StoredOrder } from '../state.js'
import { createDeposits, type DepositLog, MAX_REVERTS } from './deposits.js'
import { createEndedOrders } from './ended-orders.js'
import { endOrder, type OrderParts } from './order-end.js'
import { type DuePayment, lookAtOrder } from './order-look.js'
import { createSlots } from './slots.js'

/**
 * Pays the orders of a solver on one chain, each once. An order goes this way:
 * 1. Its deposit is found by a log, or by a look at what was quoted: `deposited`.
 * 2. `lookAtOrder` asks the chain until it has ended, or is to be paid. No step is repeated, since the chain decides at each.
 * 3. The payment is sent and followed.
 * 4. `endOrder` reports it, and ends its quote.
 * 5. `lookBack` reads it until its end is deep, and opens it again after a reorganisation.
 */
export type Filling = ReturnType<typeof createFilling>

const MAX_DELAY_MS = 10_000

/** Builds the filling of a chain. @param isNonceTaken whether a nonce is being used up */
export function createFilling(chainParts: ChainParts, isNonceTaken: (nonce: bigint) => boolean) {
  const { chain, clock, state, ledger, time, payments, metrics, books, signal, onError } = chainParts
  const { chainId } = chain
  const deposits = createDeposits()
  const isCancelling = (quote: Quote) => isNonceTaken(quote.nonce) && time.due() <= middleOf(quote)
  const parts: OrderParts = { ...chainParts, deposits, isCancelling }
  const reading = createSlots(chain.maxPayments)
  const paying = createSlots(chain.maxPayments)
  const endedOrders = createEndedOrders(parts, run)
  /** The newest block when this state began: what is settled later is its own. */
  const begun = Number(state.position(`begun ${chainId}`) ?? time.atDepth(0).blockNumber)
  state.setPosition(`begun ${chainId}`, String(begun))

  /** What an order of a quote that the state has not costs when it is missed is not known here: it comes last. */
  function urgencyOf({ signed }: StoredOrder, deadline: number) {
    return { bond: signed === undefined ? 0n : ledger.bondOf(signed.quote), deadline }
  }

  function run(orderId: Hex): void {
    const deposit = deposits.of(orderId)
    if (signal.aborted || deposit.running !== undefined) return
    // The state file may fail.
    deposit.running = inPlace('PAY', () => keepTrying(orderId))
      .catch(onError)
      .finally(() => deposits.forget(orderId))
  }

  /** An order that cannot be paid is tried again until its deadline, and holds up no other one. */
  async function keepTrying(orderId: Hex): Promise<void> {
    let delayMs = chain.pollIntervalMs
    while (!signal.aborted) {
      const order = state.order(orderId)
      if (order?.status !== 'OPEN') return
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
    const { orderId } = order
    if (payments.isUnderWay(orderId)) {
      // A stopped process may have left more payments than the limit allows.
      await paying.runNow(() => follow(order, order.fillDeadline))
      return true
    }
    const urgency = urgencyOf(order, order.fillDeadline)
    const due = await reading
      .run(urgency, () => lookAtOrder(parts, order))
      .finally(() => {
        deposits.of(orderId).isUnread = false
      })
    if (due === undefined) return false
    // After a restart the same payment is sent again, never a second one.
    await paying.run(urgencyOf(order, due.deadline), async () => {
      // It may have waited.
      const still = await lookAtOrder(parts, order)
      if (still === undefined) return
      await send(order, still)
      metrics.paymentsSent++
      await follow(order, still.deadline)
    })
    return true
  }

  /** @throws Error for a quote that is being cancelled, and for an order that the contract cannot pay any more */
  async function send(order: StoredOrder, { deposit }: DuePayment): Promise<void> {
    const { orderId } = order
    const signed = deposit === 'ADDRESS' ? order.signed : undefined
    const call = signed === undefined ? settlementCall(chain, 'fill', [orderId]) : settleCall(chain, signed)
    try {
      await payments.send(orderId, call, () => {
        if (signed !== undefined && isCancelling(signed.quote))
          throw new Error(`the quote of order ${orderId} is being cancelled`)
      })
    } catch (error) {
      if (signed !== undefined || !isOverflow(error)) throw error
      const words = `order ${orderId} cannot be filled: the contract has released the bond that was reserved for it (Panic 17)`
      throw new Error(words, { cause: error })
    }
  }

  /** @throws Error when it has reverted, so that the next one is sent later */
  async function follow(order: StoredOrder, deadline: number): Promise<void> {
    const { orderId } = order
    const ended = await payments.follow(orderId, deadline)
    if (ended?.outcome === 'success') await endOrder(parts, order, 'FILLED', { payment: ended })
    else if (ended !== undefined) payments.forget(orderId)
    if (ended?.outcome !== 'reverted' && ended?.outcome !== 'dropped') return
    if (ended.outcome === 'reverted') metrics.paymentsReverted++
    const isLast = ++deposits.of(orderId).reverts >= MAX_REVERTS
    const how = ended.outcome === 'reverted' ? 'reverted' : 'made place for others, as no block has taken it,'
    const what = isLast ? ` for the ${MAX_REVERTS}th time, and is not sent any more` : ''
    throw new Error(`the payment ${ended.hash} of order ${orderId} ${how}${what}`)
  }

  /** A quote was taken, whatever is known of its order: the chain says what came of it. */
  function taken(orderId: Hex, fillDeadline: number): void {
    state.addOrder({ chainId, orderId, fillDeadline })
    state.setStatus(orderId, 'OPEN')
    run(orderId)
  }

  return {
    /**
     * Pays an order if its deposit is there, or comes until the deadline. Known orders are ignored.
     * @param seenIn undefined for a deposit that was found without a log
     */
    deposited(orderId: Hex, fillDeadline: number, seenIn?: DepositLog): void {
      if (seenIn !== undefined) {
        const deposit = deposits.of(orderId)
        deposit.log = seenIn
        if (deposit.running === undefined) deposit.isUnread = true
      }
      state.addOrder({ chainId, orderId, fillDeadline })
      run(orderId)
    },
    /** An own order was settled, by whomever. One that is known as such is ignored: its block is read often. */
    settled(orderId: Hex, transactionHash: Hex, blockNumber: number): void {
      const order = state.order(orderId)
      if (order?.status === 'FINAL' || blockNumber <= begun) return
      if (books.filledBy(orderId) === transactionHash) return
      deposits.of(orderId).settledBy = transactionHash
      // The deadline of a price that is no longer kept is read from the chain.
      taken(orderId, order?.fillDeadline ?? 0)
    },
    taken,
    lookBack: endedOrders.lookBack,
    /** Goes on with the orders that the state has. */
    resume(): void {
      for (const { orderId } of state.orders(chainId, 'OPEN')) run(orderId)
    },
    /** Whether a look at an order is due that says what its quote needs, too. */
    isUnread: (orderId: Hex) => deposits.get(orderId)?.isUnread === true,
    /** Whether an order is not paid any more. */
    hasGivenUp: deposits.hasGivenUp,
    /** The orders that are under way. */
    count: () => deposits.all().length,
    /** @returns when nothing runs any more, after the signal has aborted */
    async idle(): Promise<void> {
      await Promise.all(deposits.all().map(({ running }) => running))
    },
  }
}
