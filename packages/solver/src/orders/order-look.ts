import type { Hex } from 'viem'
import type { KnownOrder, Order } from '../../../protocol/src/orders/order.js'
import { type AtBlock, readBalance, readOrder } from '../chain/orders.js'
import type { StoredOrder } from '../state.js'
import { type Deposit, moveDeposit } from './deposits.js'
import { type FillableOrder, type SolverQuote, type Terms, toPublicTerms } from './fillable-order.js'
import { endOrder, type OrderParts } from './order-end.js'

/** A payment that must be made. */
export interface DuePayment {
  readonly deposit: FillableOrder['deposit']
  /** The last second at which the contract takes the payment. */
  readonly deadline: number
}

/**
 * Looks at an open order once. What the chain says of it decides: it has ended; its deposit has not come, or has gone; or it is to be
 * paid.
 * @returns undefined when nothing is to be paid now
 */
export async function lookAtOrder(parts: OrderParts, order: StoredOrder): Promise<DuePayment | undefined> {
  const { orderId, fillDeadline, signed } = order
  const { chain, signal, state, ledger, time, deposits, addresses, books } = parts
  signal.throwIfAborted()
  const seen = await readOrder(chain, orderId)

  const deposit = deposits.of(orderId)
  const before = deposit.where
  if (seen.state === 'SETTLED' || seen.state === 'REFUNDED' || time.surelyPassed() > fillDeadline) {
    const wasSeen = seen.state !== 'NONE' || before !== undefined
    if (wasSeen || (await findDeposit(parts, seen, signed)) !== undefined) await endUnpaid(parts, order, seen)
    // A reorganisation has removed its deposit, and none came again.
    else drop()
    return undefined
  }
  // Its nonce was used up before it could be paid.
  if (seen.state === 'NONE' && signed !== undefined && ledger.get(signed.quote.nonce) === undefined)
    return drop()

  const where = await findDeposit(parts, seen, signed)
  if (where === undefined && books.isHedged(orderId) && (await isGone())) books.removed(orderId)
  if (where !== before) takeDeposit(parts, orderId, where, signed)
  if (where === undefined || deposits.hasGivenUp(orderId)) return undefined

  if (seen.state === 'DEPOSITED') {
    if (!isEnough(parts, seen, signed, where !== before)) return undefined
    announce(seen)
    return { deposit: 'CONTRACT', deadline: fillDeadline }
  }
  if (signed === undefined || parts.isCancelling(signed.quote)) return undefined
  // A deposit by a call may still show up.
  if (time.passed() > addresses.givenUpAfter(signed.quote)) return undefined
  announce(signed.quote)
  return { deposit: 'ADDRESS', deadline: addresses.lastSettle(signed.quote) }

  /** Nothing is owed. */
  function drop(): undefined {
    books.removed(orderId)
    state.setStatus(orderId, 'QUOTED')
  }

  /** Tells the market maker once of a deposit that is to be paid. */
  function announce(terms: Terms): void {
    if (deposit.where === undefined || deposit.isAnnounced) return
    deposit.isAnnounced = true
    deposit.toldAt = time.atDepth(0).blockNumber
    const found = { deposit: deposit.where, transactionHash: deposit.log?.transactionHash }
    books.deposited({ ...toPublicTerms(chain.chainId, orderId, terms, signed), ...found })
  }

  /** A node may lag: what was told is gone when a later block does not have it. */
  async function isGone(): Promise<boolean> {
    const head = time.atDepth(0)
    if (deposit.toldAt !== undefined && head.blockNumber <= deposit.toldAt) return false
    const now = await readOrder(chain, orderId, head)
    return now.state === 'NONE' && (await findDeposit(parts, now, signed, head)) === undefined
  }
}

/**
 * Ends an order that others have settled, or that is too late. What a refund has cost is found with the end of its quote. Where the bond
 * is still reserved, or the state has no quote, it counts as slashed from now on: anybody may refund the order.
 */
function endUnpaid(parts: OrderParts, order: StoredOrder, seen: Order): Promise<void> {
  const { solver, ledger, deposits } = parts
  const isLost = seen.state === 'DEPOSITED' || (seen.state === 'REFUNDED' && order.signed === undefined)
  const hasReserved = deposits.of(order.orderId).where === 'CONTRACT' && order.signed !== undefined
  const cost =
    isLost && seen.solver === solver
      ? ledger.bondOf(seen)
      : hasReserved
        ? ledger.bondOf(order.signed.quote)
        : 0n
  const isNonceUsed = seen.state === 'SETTLED' || seen.state === 'DEPOSITED'
  return endOrder(parts, order, seen.state === 'SETTLED' ? 'FILLED' : 'MISSED', isNonceUsed, { cost })
}

/**
 * Finds where the deposit of an open order is.
 * @returns undefined while no deposit is there, or the order belongs to another solver
 * @throws ChainReadError, viem's errors
 */
export async function findDeposit(
  { chain, solver }: OrderParts,
  order: Order,
  signed: SolverQuote | undefined,
  at?: AtBlock,
): Promise<Deposit['where']> {
  if (order.state === 'DEPOSITED') return order.solver === solver ? 'CONTRACT' : undefined
  if (signed === undefined) return undefined
  const { inputToken, inputAmount } = signed.quote
  return (await readBalance(chain, inputToken, signed.depositAddress, at)) >= inputAmount
    ? 'ADDRESS'
    : undefined
}

/** A deposit is there for the first time, or has moved; or a reorganisation has removed it: its quote must be ended as any other. */
function takeDeposit(
  parts: OrderParts,
  orderId: Hex,
  where: Deposit['where'],
  signed: SolverQuote | undefined,
): void {
  moveDeposit(parts.deposits.of(orderId), where)
  if (where !== undefined) {
    parts.metrics.deposits++
    parts.log.info({ chainId: parts.chain.chainId, orderId, where }, 'deposit')
    if (signed !== undefined) parts.ledger.reopen(signed)
  }
  if (signed !== undefined) parts.ledger.deposited(signed.quote, where ?? 'NONE')
}

/** Whether what has arrived at the contract is what was quoted, or the market maker takes it, who is asked once for each deposit. */
function isEnough(
  { deposits, acceptLess, onError }: OrderParts,
  { orderId, chainId, inputAmount }: KnownOrder,
  signed: SolverQuote | undefined,
  isNew: boolean,
): boolean {
  const deposit = deposits.of(orderId)
  const quoted = signed?.quote.inputAmount ?? deposit.log?.quotedInput
  if (quoted !== undefined && inputAmount >= quoted) return true
  // No order waits for the answer: it may take long.
  const ask = async () => {
    if (signed === undefined || !(await acceptLess?.({ chainId, orderId, signed, inputAmount }))) {
      const words = `order ${orderId} has ${inputAmount} of the input of ${quoted ?? 'a quote that is not known'}, and is not paid`
      throw new Error(words)
    }
    deposit.isAccepted = true
  }
  if (isNew) ask().catch(onError)
  return deposit.isAccepted
}
