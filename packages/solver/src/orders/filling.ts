import type { Hex } from 'viem'
import { isOverflow } from '../../../protocol/src/node/revert.js'
import type { Order } from '../../../protocol/src/orders/order.js'
import { settleCall, settlementCall } from '../chain/calls.js'
import type { ChainParts } from '../chain/chain-parts.js'
import { readBalance, readOrder } from '../chain/orders.js'
import type { SolverOptions } from '../solver-options.js'
import type { StoredOrder } from '../state.js'
import type { PaymentEnd } from '../transactions/transaction-sender.js'
import type { FillableOrder, SolverQuote, Terms } from './fillable-order.js'
import { createOrderReports } from './order-reports.js'
import { createSlots } from './slots.js'

/** Pays the orders of a solver on one chain, each once. */
export type Filling = ReturnType<typeof createFilling>

/** A deposit that was found. */
interface Found {
  readonly deposit: FillableOrder['deposit']
  /** The last second at which the contract takes the payment. */
  readonly deadline: number
}

/** A deposit, and how often its payment has reverted. */
interface Seen {
  readonly where: FillableOrder['deposit']
  reverts: number
  /** The market maker knows of it. */
  isAnnounced: boolean
}

/** What a log says of a deposit. */
export interface DepositLog {
  readonly transactionHash: Hex
  /** The input of its quote, as the contract's event says it: the state may not have the quote. */
  readonly quotedInput?: bigint
}

const MAX_DELAY_MS = 10_000
/** A token can let a simulation pass and revert in each block, at the cost of the solver's gas. */
const MAX_REVERTS = 5

/**
 * Builds the filling of a chain. What the chain says of an order decides at every step, so that no step is repeated.
 * @param isCancelling whether the nonce of a quote is being used up
 */
export function createFilling(parts: ChainParts, isCancelling: (nonce: bigint) => boolean) {
  const { chain, clock, time, solver, state, ledger, payments, metrics, log, signal, onError } = parts
  const { chainId } = chain
  const paying = createSlots(chain.maxPayments)
  const reading = createSlots(chain.maxPayments)
  const running = new Map<Hex, Promise<void>>()
  /** The orders that are under way, and whose deposits have been reported. */
  const reported = new Map<Hex, Seen>()
  const logs = new Map<Hex, DepositLog>()
  const reports = createOrderReports(parts)
  /** The blocks at which orders were first seen as paid. */
  const paidSince = new Map<Hex, bigint>()

  function run(orderId: Hex): void {
    if (signal.aborted || running.has(orderId)) return
    const ended = keepTrying(orderId).finally(() => {
      running.delete(orderId)
      reported.delete(orderId)
      logs.delete(orderId)
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
    if (payments.isUnderWay(orderId)) return paying.runNow(() => followPayment(order, fillDeadline))
    const urgency = { bond: bondOf(orderId), deadline: fillDeadline }
    const found = await reading.run(urgency, () => look(order))
    if (found === undefined) return false
    if (parts.fill === undefined) await pay(order, found)
    else await leave(parts.fill, order, found)
    return true
  }

  /** What an order of a quote that the state has not costs when it is missed is not known here: it comes last. */
  function bondOf(orderId: Hex): bigint {
    const signed = state.quote(orderId)
    return signed === undefined ? 0n : ledger.bondOf(signed.quote)
  }

  /** @returns the deposit of an order that must be paid */
  async function look(order: StoredOrder): Promise<Found | undefined> {
    const { orderId } = order
    signal.throwIfAborted()
    const signed = state.quote(orderId)
    const seen = await readOrder(chain, orderId)
    // Only the chain's time ends an order: the contract knows no other, and a node may lag behind.
    const isOver = seen.state === 'REFUNDED' || time.passed() > order.fillDeadline
    if (seen.state === 'SETTLED') await end(order, 'FILLED', { isNonceUsed: true })
    // A reorganisation has removed its deposit, and none came again.
    else if (isOver && seen.state === 'NONE' && !reported.has(orderId)) state.dropOrder(orderId)
    else if (isOver) await end(order, 'MISSED', { isNonceUsed: seen.state === 'DEPOSITED' })
    if (seen.state === 'SETTLED' || isOver) return undefined
    const deposit = await findDeposit(seen, signed)
    if (deposit === undefined) {
      // A reorganisation has removed it: its quote must be ended as any other.
      if (signed !== undefined && reported.delete(orderId)) ledger.deposited(signed.quote, 'NONE')
      return undefined
    }
    // It may lie at the address first, and then at the contract.
    const isFirst = reported.get(orderId)?.where !== deposit
    if (isFirst) onDeposit(orderId, signed, deposit)
    if (hasGivenUp(orderId)) return undefined
    if (seen.state === 'DEPOSITED' && !(await isEnough(order, seen.inputAmount, signed, isFirst)))
      return undefined
    if (seen.state === 'DEPOSITED') {
      announce(orderId, seen, signed)
      return { deposit, deadline: order.fillDeadline }
    }
    // A deposit by a call may still show up.
    if (signed === undefined || time.passed() > parts.addresses.givenUpAfter(signed.quote)) return undefined
    announce(orderId, signed.quote, signed)
    return { deposit, deadline: parts.addresses.lastSettle(signed.quote) }
  }

  /** Tells the market maker once of a deposit that is to be paid. */
  function announce(orderId: Hex, terms: Terms, signed: SolverQuote | undefined): void {
    const known = reported.get(orderId)
    if (known === undefined || known.isAnnounced) return
    known.isAnnounced = true
    const { transactionHash } = logs.get(orderId) ?? {}
    reports.deposited(orderId, terms, signed, { deposit: known.where, transactionHash })
  }

  /** Whether what has arrived is what was quoted, or the market maker takes it. */
  async function isEnough(
    { orderId }: StoredOrder,
    inputAmount: bigint,
    signed: SolverQuote | undefined,
    isFirst: boolean,
  ): Promise<boolean> {
    const quoted = signed?.quote.inputAmount ?? logs.get(orderId)?.quotedInput
    if (quoted !== undefined && inputAmount >= quoted) return true
    if (signed !== undefined && (await parts.acceptLess?.({ chainId, orderId, signed, inputAmount })))
      return true
    if (isFirst)
      onError(
        new Error(
          `order ${orderId} has ${inputAmount} of the input of ${quoted ?? 'a quote that is not known'}, and is not paid`,
        ),
      )
    return false
  }

  /** @throws Error when it has reverted, so that the next one is sent later */
  async function followPayment(order: StoredOrder, deadline: number): Promise<true> {
    const { orderId } = order
    const ended = await payments.follow(orderId, deadline)
    if (ended?.outcome === 'success') await end(order, 'FILLED', { isNonceUsed: true, payment: ended })
    else if (ended !== undefined) payments.forget(orderId)
    if (ended?.outcome !== 'reverted') return true
    metrics.paymentsReverted++
    const seen = reported.get(orderId)
    if (seen !== undefined) seen.reverts++
    const what = hasGivenUp(orderId) ? ` for the ${MAX_REVERTS}th time, and is not sent any more` : ''
    throw new Error(`the payment ${ended.hash} of order ${orderId} reverted${what}`)
  }

  const hasGivenUp = (orderId: Hex) => (reported.get(orderId)?.reverts ?? 0) >= MAX_REVERTS

  /** @returns undefined while no deposit is there, or the order belongs to another solver */
  async function findDeposit(seen: Order, signed: SolverQuote | undefined) {
    if (seen.state === 'DEPOSITED') return seen.solver === solver ? 'CONTRACT' : undefined
    if (signed === undefined) return undefined
    const { quote, depositAddress } = signed
    const balance = await readBalance(chain, quote.inputToken, depositAddress)
    return balance >= quote.inputAmount ? 'ADDRESS' : undefined
  }

  /** A reorganisation has removed the end of a quote. */
  function countAgain(signed: SolverQuote): void {
    if (ledger.get(signed.quote.nonce) !== undefined) return
    state.reopenQuote(signed.orderId)
    ledger.add(signed)
  }

  /** A reorganisation may have removed a payment, or its deposit too. */
  async function lookBackAt({ orderId }: StoredOrder): Promise<void> {
    // A node that does not have this block must not answer for it.
    const head = time.atDepth(0)
    const now = await readOrder(chain, orderId, head)
    if (now.state !== 'SETTLED') return reopen(orderId, now)
    const since = paidSince.get(orderId) ?? head.blockNumber
    paidSince.set(orderId, since)
    if (head.blockNumber - since < chain.confirmations) return
    const deep = await readOrder(chain, orderId, time.atDepth())
    if (deep.state !== 'SETTLED') return
    paidSince.delete(orderId)
    state.setStatus(orderId, 'FINAL')
  }

  async function reopen(orderId: Hex, seen: Order): Promise<void> {
    const signed = state.quote(orderId)
    // Its payment would revert.
    if ((await findDeposit(seen, signed)) === undefined) payments.forget(orderId)
    if (signed !== undefined) countAgain(signed)
    paidSince.delete(orderId)
    state.setStatus(orderId, 'OPEN')
    run(orderId)
  }

  /** Sends the payment and follows it. After a restart the same one is sent again, never a second one. */
  async function pay(order: StoredOrder, { deadline }: Found): Promise<void> {
    await paying.run({ bond: bondOf(order.orderId), deadline }, async () => {
      // It may have waited.
      const now = await look(order)
      if (now === undefined) return
      await send(order, now)
      metrics.paymentsSent++
      await followPayment(order, now.deadline)
    })
  }

  async function send({ orderId }: StoredOrder, { deposit }: Found): Promise<void> {
    const signed = deposit === 'ADDRESS' ? state.quote(orderId) : undefined
    const call = signed === undefined ? settlementCall(chain, 'fill', [orderId]) : settleCall(chain, signed)
    try {
      await payments.send(orderId, call, () => {
        if (signed !== undefined && isCancelling(signed.quote.nonce))
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
    fill: NonNullable<SolverOptions['fill']>,
    order: StoredOrder,
    found: Found,
  ): Promise<void> {
    const { orderId } = order
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
    { isNonceUsed, payment }: { readonly isNonceUsed: boolean; readonly payment?: PaymentEnd },
  ): Promise<void> {
    const { orderId } = order
    const signed = state.quote(orderId)
    await reports.ended({ orderId, status, signed, where: reported.get(orderId)?.where, payment })
    state.setStatus(orderId, status)
    if (signed === undefined) return
    // What was paid out must be missing from the holdings before it is missing from the promises.
    await parts.refresh().catch(onError)
    // With an unused nonce it can still cost a part of the bond.
    if (!isNonceUsed) return ledger.deposited(signed.quote, 'NONE')
    for (const other of ledger.get(signed.quote.nonce)?.signed ?? [signed])
      state.endQuote(other.orderId, time.passed())
    ledger.end(signed.quote)
  }

  function onDeposit(orderId: Hex, signed: SolverQuote | undefined, where: FillableOrder['deposit']): void {
    reported.set(orderId, { where, reverts: 0, isAnnounced: false })
    metrics.deposits++
    log.info({ chainId, orderId, where }, 'deposit')
    if (signed === undefined) return
    countAgain(signed)
    ledger.deposited(signed.quote, where)
  }

  return {
    /**
     * Pays an order if its deposit is there, or comes until the deadline. Known orders are ignored.
     * @param seenIn undefined for a deposit that was found without a log
     */
    deposited(orderId: Hex, fillDeadline: number, seenIn?: DepositLog): void {
      if (seenIn !== undefined) logs.set(orderId, seenIn)
      state.addOrder({ chainId, orderId, fillDeadline })
      run(orderId)
    },
    /** Looks again at the orders whose payment is not deep yet. @throws ChainReadError, viem's errors */
    async lookBack(): Promise<void> {
      await Promise.all(state.orders(chainId, 'FILLED').map(lookBackAt))
    },
    /** Goes on with the orders that the state has. */
    resume(): void {
      for (const { orderId } of state.orders(chainId, 'OPEN')) run(orderId)
    },
    /** Whether an order is not paid any more, since its payments revert. */
    hasGivenUp,
    /** The orders that are under way. */
    count: () => running.size,
    /** @returns when nothing runs any more, after the signal has aborted */
    async idle(): Promise<void> {
      await Promise.all(running.values())
    },
  }
}
