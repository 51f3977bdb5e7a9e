import { setTimeout as delay } from 'node:timers/promises'
import type { Address, Hex } from 'viem'
import type { SolverChain } from './chain/open-chain.js'
import { type ChainOrder, fillCall, readBalance, readOrder, settleCall } from './chain/orders.js'
import type { TransactionSender } from './chain/transactions.js'
import type { FillableOrder, SolverQuote } from './fillable-order.js'
import { followPayment } from './payment.js'
import type { SolverState, StoredOrder } from './state.js'

export interface FillingOptions {
  readonly chain: SolverChain
  readonly solver: Address
  readonly state: SolverState
  /** Undefined for an account that signs no transactions. */
  readonly sender: TransactionSender | undefined
  /** The market maker's way. */
  readonly fill: ((order: FillableOrder) => Promise<unknown>) | undefined
  /** Called once for an order in a process, when its deposit is there. `signed` is undefined as in `FillableOrder`. */
  readonly onDeposit: (orderId: Hex, signed: SolverQuote | undefined, where: FillableOrder['deposit']) => void
  readonly onPayment: () => void
  readonly onReverted: (orderId: Hex, hash: Hex) => void
  /** Called when an order has its last status: at least once over restarts, and again when a reorganisation removes the end. */
  readonly onEnd: (order: StoredOrder, signed: SolverQuote | undefined) => void
  /** Called after it. */
  readonly onEnded: (signed: SolverQuote | undefined) => Promise<void>
  readonly onError: (error: unknown) => void
  readonly signal: AbortSignal
}

/** Pays the orders of a solver on one chain, each once. */
export interface Filling {
  /** Pays an order if its deposit is there, or comes until the deadline. Known orders are ignored. */
  deposited(orderId: Hex, fillDeadline: number): void
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
const nowSeconds = () => Date.now() / 1000

/** Builds the filling of a chain. What the chain says of an order decides at every step, so that no step is repeated. */
export function createFilling(options: FillingOptions): Filling {
  const { chain, solver, state, sender, signal, onError } = options
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
      await delay(delayMs, undefined, { signal }).catch(() => {})
    }
  }

  /** One look at the chain, and what follows from it. @returns whether the payment is under way */
  async function step(order: StoredOrder): Promise<boolean> {
    const { orderId, fillDeadline, transaction } = order
    if (transaction !== undefined && sender !== undefined) {
      const outcome = await followPayment({ ...order, transaction }, { sender, chain, signal })
      if (outcome === 'success') return end(order, 'FILLED')
      if (outcome === 'reverted') options.onReverted(orderId, transaction.hash)
      if (outcome !== undefined) state.setTransaction(orderId, undefined)
      return true
    }
    const signed = state.quote(orderId)
    const seen = await readOrder(chain, orderId)
    if (seen.state === 'SETTLED') return end(order, 'FILLED')
    if (seen.state === 'REFUNDED' || nowSeconds() > fillDeadline) return end(order, 'MISSED')
    const where = await findDeposit(seen, signed)
    if (where === undefined) return false
    if (!reported.has(orderId)) options.onDeposit(orderId, signed, where)
    reported.add(orderId)
    if (options.fill === undefined) await pay(order, where, signed)
    else await leave(options.fill, order, where, signed)
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

  /** The transaction is kept before it is sent: after a restart the same one is sent again, never a second one. */
  async function pay(
    { orderId }: StoredOrder,
    where: FillableOrder['deposit'],
    signed: SolverQuote | undefined,
  ): Promise<void> {
    if (sender === undefined) throw new Error('the account cannot sign transactions')
    const call =
      where === 'ADDRESS' && signed !== undefined
        ? settleCall(chain, signed.quote, signed.signature)
        : fillCall(chain, orderId)
    await sender.send(call, (transaction) => state.setTransaction(orderId, transaction))
    options.onPayment()
  }

  async function leave(
    fill: NonNullable<FillingOptions['fill']>,
    order: StoredOrder,
    deposit: FillableOrder['deposit'],
    signed: SolverQuote | undefined,
  ): Promise<void> {
    const { chainId, orderId } = order
    const payNow = async () => {
      await pay(order, deposit, signed)
      while (state.order(orderId)?.status === 'OPEN') {
        signal.throwIfAborted()
        const current = state.order(orderId)
        if (current?.transaction === undefined) throw new Error(`the payment of order ${orderId} failed`)
        await step(current)
      }
    }
    await fill({ chainId, orderId, deposit, signed, signal, fill: payNow })
    const left = state.order(orderId)
    if (left?.status === 'OPEN') await end(left, 'LEFT')
  }

  /** The report comes before the status: after a crash between both, it comes again. */
  async function end(order: StoredOrder, status: StoredOrder['status']): Promise<boolean> {
    const { orderId } = order
    const signed = state.quote(orderId)
    options.onEnd({ ...order, status }, signed)
    state.setStatus(orderId, status)
    await options.onEnded(signed)
    return true
  }

  return {
    deposited(orderId, fillDeadline) {
      state.addOrder({ chainId: chain.chainId, orderId, fillDeadline })
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
