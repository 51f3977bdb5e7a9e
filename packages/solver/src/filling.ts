import type { Address, Hex } from 'viem'
import type { Clock } from '../../../src/clock.js'
import type { ChainTime } from './chain/chain-time.js'
import type { SolverChain } from './chain/open-chain.js'
import { type ChainOrder, fillCall, readBalance, readOrder, settleCall } from './chain/orders.js'
import { isOverflow } from './chain/revert-data.js'
import type { DepositAddresses } from './deposit-addresses.js'
import type { FillableOrder, SolverQuote } from './fillable-order.js'
import type { Payments } from './payments.js'
import { createSlots } from './slots.js'
import type { SolverOptions } from './solver-options.js'
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
  /** Called after it. @param isNonceUsed whether it is over for the quote: a refund is looked at by others */
  readonly onEnded: (signed: SolverQuote, isNonceUsed: boolean) => Promise<void>
  /** Whether the market maker pays an order whose input is less than was quoted. */
  readonly acceptLess: SolverOptions['acceptLess']
  readonly addresses: Pick<DepositAddresses, 'lastSettle' | 'givenUpAfter'>
  /** Whether the nonce of a quote is being used up. */
  readonly isCancelling: (nonce: bigint) => boolean
  readonly onError: (error: unknown) => void
  readonly signal: AbortSignal
}

export interface EndedOrder extends StoredOrder {
  /** The payment of this state that was mined. */
  readonly transactionHash: Hex | undefined
}

/** Pays the orders of a solver on one chain, each once. */
export interface Filling {
  /**
   * Pays an order if its deposit is there, or comes until the deadline. Known orders are ignored.
   * @param quotedInput the input of its quote, as the contract's event says it: the state may not have the quote
   */
  deposited(orderId: Hex, fillDeadline: number, quotedInput?: bigint): void
  /** A reorganisation has removed the end of an order. */
  reopen(orderId: Hex): void
  /** Goes on with the orders that the state has. */
  resume(): void
  /** The orders that are under way. */
  count(): number
  /** @returns when nothing runs any more, after the signal has aborted */
  idle(): Promise<void>
}

/** A deposit that was found. */
interface Found {
  readonly deposit: FillableOrder['deposit']
  /** The last second at which the contract takes the payment. */
  readonly deadline: number
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
  const quotedInputs = new Map<Hex, bigint>()

  function run(orderId: Hex): void {
    if (signal.aborted || running.has(orderId)) return
    const ended = keepTrying(orderId).finally(() => {
      running.delete(orderId)
      reported.delete(orderId)
      quotedInputs.delete(orderId)
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
    if (payments?.isUnderWay(orderId))
      return paying.runNow(() => followPayment(order, fillDeadline, payments))
    const deposit = quotedInputs.has(orderId) ? 'CONTRACT' : 'ADDRESS'
    const found = await reading.run({ deposit, deadline: fillDeadline }, () => look(order))
    if (found === undefined) return false
    if (options.fill === undefined) await pay(order, found)
    else await leave(options.fill, order, found)
    return true
  }

  /** @returns the deposit of an order that must be paid */
  async function look(order: StoredOrder): Promise<Found | undefined> {
    const { orderId } = order
    signal.throwIfAborted()
    const signed = state.quote(orderId)
    const seen = await readOrder(chain, orderId)
    const isOver = seen.state === 'REFUNDED' || time.passed() > givenUpAfter(order, seen, signed)
    if (seen.state === 'SETTLED') await end(order, 'FILLED', { isNonceUsed: true })
    else if (isOver) await end(order, 'MISSED', { isNonceUsed: seen.state === 'DEPOSITED' })
    if (seen.state === 'SETTLED' || isOver) return undefined
    const deposit = await findDeposit(seen, signed)
    if (deposit === undefined) return undefined
    const isFirst = !reported.has(orderId)
    if (isFirst) options.onDeposit(orderId, signed, deposit)
    reported.add(orderId)
    if (deposit === 'CONTRACT' && !(await isEnough(order, seen, signed, isFirst))) return undefined
    const isAtAddress = deposit === 'ADDRESS' && signed !== undefined
    return {
      deposit,
      deadline: isAtAddress ? options.addresses.lastSettle(signed.quote) : order.fillDeadline,
    }
  }

  /** Only the chain's time ends an order: the contract knows no other. */
  function givenUpAfter(order: StoredOrder, seen: ChainOrder, signed: SolverQuote | undefined): number {
    if (seen.state !== 'NONE' || signed === undefined) return order.fillDeadline
    return options.addresses.givenUpAfter(signed.quote)
  }

  /** Whether what has arrived is what was quoted, or the market maker takes it. */
  async function isEnough(
    { chainId, orderId }: StoredOrder,
    { inputAmount }: ChainOrder,
    signed: SolverQuote | undefined,
    isFirst: boolean,
  ): Promise<boolean> {
    const quoted = signed?.quote.inputAmount ?? quotedInputs.get(orderId) ?? 0n
    if (inputAmount >= quoted) return true
    if (signed !== undefined && (await options.acceptLess?.({ chainId, orderId, signed, inputAmount })))
      return true
    if (isFirst)
      onError(new Error(`order ${orderId} has ${inputAmount} of the input of ${quoted}, and is not paid`))
    return false
  }

  async function followPayment(order: StoredOrder, deadline: number, sent: Payments): Promise<true> {
    const { orderId } = order
    const ended = await sent.follow(orderId, deadline)
    if (ended?.outcome === 'success') await end(order, 'FILLED', { isNonceUsed: true, hash: ended.hash })
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
  async function pay(order: StoredOrder, found: Found): Promise<void> {
    if (payments === undefined) throw new Error('the account cannot sign transactions')
    await paying.run(found, async (hasWaited) => {
      const now = hasWaited ? await look(order) : found
      if (now === undefined) return
      await send(order, now, payments)
      options.onPayment()
      await followPayment(order, now.deadline, payments)
    })
  }

  async function send({ orderId }: StoredOrder, { deposit }: Found, sender: Payments): Promise<void> {
    const signed = deposit === 'ADDRESS' ? state.quote(orderId) : undefined
    const call =
      signed === undefined ? fillCall(chain, orderId) : settleCall(chain, signed.quote, signed.signature)
    try {
      await sender.send(orderId, call, () => {
        if (signed !== undefined && options.isCancelling(signed.quote.nonce))
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

  async function leave(
    fill: NonNullable<FillingOptions['fill']>,
    order: StoredOrder,
    found: Found,
  ): Promise<void> {
    const { chainId, orderId } = order
    const { deposit } = found
    const payNow = async () => {
      await pay(order, found)
      signal.throwIfAborted()
      if (state.order(orderId)?.status === 'OPEN') throw new Error(`the payment of order ${orderId} failed`)
    }
    await fill({ chainId, orderId, deposit, signed: state.quote(orderId), signal, fill: payNow })
    const left = state.order(orderId)
    if (left?.status === 'OPEN') await end(left, 'LEFT', { isNonceUsed: deposit === 'CONTRACT' })
  }

  /** The report comes before the status: after a crash between both, it comes again. */
  async function end(
    order: StoredOrder,
    status: StoredOrder['status'],
    { isNonceUsed, hash }: { readonly isNonceUsed: boolean; readonly hash?: Hex },
  ): Promise<void> {
    const { orderId } = order
    const signed = state.quote(orderId)
    options.onEnd({ ...order, status, transactionHash: hash }, signed)
    state.setStatus(orderId, status)
    if (signed !== undefined) await options.onEnded(signed, isNonceUsed)
  }

  return {
    deposited(orderId, fillDeadline, quotedInput) {
      if (quotedInput !== undefined) quotedInputs.set(orderId, quotedInput)
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
