import type { Address, Hex } from 'viem'
import type { Clock } from '../../../src/clock.js'
import type { ChainTime } from './chain/chain-time.js'
import type { SolverChain } from './chain/open-chain.js'
import { type ChainOrder, fillCall, readBalance, readOrder, settleCall } from './chain/orders.js'
import type { FillableOrder, SolverQuote } from './fillable-order.js'
import type { PaymentEnd, Payments } from './payments.js'
import { createSlots } from './slots.js'
import type { SolverState, StoredOrder } from './state.js'

export interface FillingOptions {
  readonly chain: SolverChain
  readonly solver: Address
  readonly clock: Clock
  readonly time: Pick<ChainTime, 'passed'>
  readonly state: SolverState
  /** Undefined for an account that signs no transactions. */
  readonly payments: Payments | undefined
  /** The market maker's way. */
  readonly fill: ((order: FillableOrder) => Promise<unknown>) | undefined
  /** Called once for an order in a process, when its deposit is there. `signed` is undefined as in `FillableOrder`. */
  readonly onDeposit: (orderId: Hex, signed: SolverQuote | undefined, where: FillableOrder['deposit']) => void
  readonly onPayment: () => void
  readonly onReverted: (orderId: Hex, hash: Hex) => void
  /** Called when an order has its last status: at least once over restarts, and again when a reorganisation removes the end. */
  readonly onEnd: (order: EndedOrder, signed: SolverQuote | undefined) => void
  /** Called after it. */
  readonly onEnded: (signed: SolverQuote | undefined) => Promise<void>
  readonly onError: (error: unknown) => void
  readonly signal: AbortSignal
}

export interface EndedOrder extends StoredOrder {
  /** The payment of this state that was mined. */
  readonly transactionHash: Hex | undefined
}

/** Pays the orders of a solver on one chain, each once. */
export interface Filling {
  /** Pays an order if its deposit is there, or comes until the deadline. Known orders are ignored. */
  deposited(orderId: Hex, fillDeadline: number, where: FillableOrder['deposit']): void
  /** A reorganisation has removed the end of an order. */
  reopen(orderId: Hex): void
  /** Goes on with the orders that the state has. */
  resume(): void
  /** The orders that are under way. */
  count(): number
  /** @returns when nothing runs any more, after the signal has aborted */
  idle(): Promise<void>
}

const MAX_DELAY_MS = 10_000

/** Builds the filling of a chain. What the chain says of an order decides at every step, so that no step is repeated. */
export function createFilling(options: FillingOptions): Filling {
  const { chain, clock, time, solver, state, payments, signal, onError } = options
  const paying = createSlots(chain.maxPayments)
  const reading = createSlots(chain.maxPayments)
  const running = new Map<Hex, Promise<void>>()
  /** The orders that are under way, and whose deposits have been reported. */
  const reported = new Set<Hex>()

  function run(orderId: Hex): void {
    if (signal.aborted || running.has(orderId)) return
    const ended = keepTrying(orderId).finally(() => {
      running.delete(orderId)
      reported.delete(orderId)
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
    const { orderId, fillDeadline } = order
    // A stopped process may have left more payments than the limit allows.
    if (payments?.isUnderWay(orderId)) return paying.runNow(() => followPayment(order, payments))
    const deposit = await reading.run(fillDeadline, () => look(order))
    if (deposit === undefined) return false
    if (options.fill === undefined) await pay(order, deposit)
    else await leave(options.fill, order, deposit)
    return true
  }

  /** @returns where the deposit of an order is that must be paid */
  async function look(order: StoredOrder): Promise<FillableOrder['deposit'] | undefined> {
    const { orderId, fillDeadline } = order
    signal.throwIfAborted()
    const signed = state.quote(orderId)
    const seen = await readOrder(chain, orderId)
    const isOver = seen.state === 'REFUNDED' || time.passed() > fillDeadline
    if (seen.state === 'SETTLED') await end(order, 'FILLED')
    else if (isOver) await end(order, 'MISSED')
    if (seen.state === 'SETTLED' || isOver) return undefined
    const deposit = await findDeposit(seen, signed)
    if (deposit === undefined) return undefined
    if (!reported.has(orderId)) options.onDeposit(orderId, signed, deposit)
    reported.add(orderId)
    return deposit
  }

  async function followPayment(order: StoredOrder, sent: Payments): Promise<true> {
    const { orderId, fillDeadline } = order
    const ended = await sent.follow(orderId, fillDeadline)
    if (ended?.outcome === 'success') await end(order, 'FILLED', ended)
    else if (ended !== undefined) {
      if (ended.outcome === 'reverted') options.onReverted(orderId, ended.hash)
      sent.forget(orderId)
    }
    return true
  }

  /** @returns undefined while no deposit is there, or the order belongs to another solver */
  async function findDeposit(seen: ChainOrder, signed: SolverQuote | undefined) {
    if (seen.state === 'DEPOSITED') return seen.solver === solver ? 'CONTRACT' : undefined
    if (signed === undefined) return undefined
    const { quote, depositAddress } = signed
    const balance = await readBalance(chain, quote.inputToken, depositAddress)
    return balance >= quote.inputAmount ? 'ADDRESS' : undefined
  }

  /** Sends the payment and follows it. After a restart the same one is sent again, never a second one. */
  async function pay(order: StoredOrder, found: FillableOrder['deposit']): Promise<void> {
    if (payments === undefined) throw new Error('the account cannot sign transactions')
    await paying.run(order.fillDeadline, async (hasWaited) => {
      const deposit = hasWaited ? await look(order) : found
      if (deposit === undefined) return
      const signed = deposit === 'ADDRESS' ? state.quote(order.orderId) : undefined
      const call =
        signed === undefined
          ? fillCall(chain, order.orderId)
          : settleCall(chain, signed.quote, signed.signature)
      await payments.send(order.orderId, call, () => {
        if (state.order(order.orderId)?.status !== 'OPEN')
          throw new Error(`the quote of order ${order.orderId} is being cancelled`)
      })
      options.onPayment()
      await followPayment(order, payments)
    })
  }

  async function leave(
    fill: NonNullable<FillingOptions['fill']>,
    order: StoredOrder,
    deposit: FillableOrder['deposit'],
  ): Promise<void> {
    const { chainId, orderId } = order
    const payNow = async () => {
      await pay(order, deposit)
      signal.throwIfAborted()
      if (state.order(orderId)?.status === 'OPEN') throw new Error(`the payment of order ${orderId} failed`)
    }
    await fill({ chainId, orderId, deposit, signed: state.quote(orderId), signal, fill: payNow })
    const left = state.order(orderId)
    if (left?.status === 'OPEN') await end(left, 'LEFT')
  }

  /** The report comes before the status: after a crash between both, it comes again. */
  async function end(order: StoredOrder, status: StoredOrder['status'], payment?: PaymentEnd): Promise<void> {
    const { orderId } = order
    const signed = state.quote(orderId)
    options.onEnd({ ...order, status, transactionHash: payment?.hash }, signed)
    state.setStatus(orderId, status)
    await options.onEnded(signed)
  }

  return {
    deposited(orderId, fillDeadline, where) {
      state.addOrder({ chainId: chain.chainId, orderId, fillDeadline })
      // The contract takes no deposit of a cancelled quote: a reorganisation has removed the cancellation.
      if (where === 'CONTRACT' && state.order(orderId)?.status === 'CANCELLED')
        state.setStatus(orderId, 'OPEN')
      run(orderId)
    },
    reopen(orderId) {
      const order = state.order(orderId)
      if (order?.status !== 'FILLED') return
      state.setStatus(orderId, 'OPEN')
      run(orderId)
    },
    resume() {
      for (const { chainId, orderId } of state.openOrders()) if (chainId === chain.chainId) run(orderId)
    },
    count: () => running.size,
    async idle() {
      await Promise.all(running.values())
    },
  }
}
