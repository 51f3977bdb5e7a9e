import type { Hex } from 'viem'
import type { KnownOrder, Order } from '../../../protocol/src/orders/order.js'
import { readBalance, readOrder } from '../chain/orders.js'
import type { StoredOrder } from '../state.js'
import type { FillableOrder, SolverQuote, Terms } from './fillable-order.js'
import { endOrder, reopenQuote } from './order-end.js'
import type { OrderParts } from './order-parts.js'
import { depositOf, endOf } from './order-rules.js'

/** An order that must be paid. */
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
  const { orderId, fillDeadline } = order
  const { chain, signal, state, time, deposits, addresses } = parts
  signal.throwIfAborted()
  const signed = state.quote(orderId)
  const seen = await readOrder(chain, orderId)

  const before = deposits.where(orderId)
  const end = endOf(seen, { time: time.passed(), fillDeadline }, before !== undefined)
  if (end === 'GONE') state.dropOrder(orderId)
  // What a refund has cost is found with the end of its quote.
  else if (end !== undefined)
    await endOrder(parts, order, end, { isNonceUsed: seen.state === 'SETTLED' || seen.state === 'DEPOSITED' })
  if (end !== undefined) return undefined

  const where = await findDeposit(parts, seen, signed)
  if (where === undefined) {
    if (before !== undefined) loseDeposit(parts, orderId, signed)
    return undefined
  }
  if (where !== before) takeDeposit(parts, orderId, where, signed)
  if (deposits.hasGivenUp(orderId)) return undefined

  if (seen.state === 'DEPOSITED') {
    if (!isEnough(parts, seen, signed, where !== before)) return undefined
    announce(parts, orderId, seen, signed)
    return { deposit: 'CONTRACT', deadline: fillDeadline }
  }
  // A deposit by a call may still show up.
  if (signed === undefined || time.passed() > addresses.givenUpAfter(signed.quote)) return undefined
  announce(parts, orderId, signed.quote, signed)
  return { deposit: 'ADDRESS', deadline: addresses.lastSettle(signed.quote) }
}

/** @returns as `depositOf` @throws ChainReadError, viem's errors */
export async function findDeposit(
  { chain, solver }: OrderParts,
  order: Order,
  signed: SolverQuote | undefined,
): Promise<FillableOrder['deposit'] | undefined> {
  const isAtContract = order.state === 'DEPOSITED'
  const balance =
    isAtContract || signed === undefined
      ? undefined
      : await readBalance(chain, signed.quote.inputToken, signed.depositAddress)
  return depositOf(order, solver, signed, balance)
}

/** A deposit is there for the first time, or has moved. */
function takeDeposit(
  parts: OrderParts,
  orderId: Hex,
  where: FillableOrder['deposit'],
  signed: SolverQuote | undefined,
): void {
  parts.deposits.found(orderId, where)
  parts.metrics.deposits++
  parts.log.info({ chainId: parts.chain.chainId, orderId, where }, 'deposit')
  if (signed === undefined) return
  reopenQuote(parts, signed)
  parts.ledger.deposited(signed.quote, where)
}

/** A reorganisation has removed a deposit: the quote must be ended as any other. */
function loseDeposit(parts: OrderParts, orderId: Hex, signed: SolverQuote | undefined): void {
  if (signed === undefined) return
  parts.deposits.removed(orderId)
  parts.ledger.deposited(signed.quote, 'NONE')
}

/** Tells the market maker once of a deposit that is to be paid. */
function announce(parts: OrderParts, orderId: Hex, terms: Terms, signed: SolverQuote | undefined): void {
  const { deposits, reports } = parts
  const deposit = deposits.where(orderId)
  if (deposit === undefined || !deposits.announce(orderId)) return
  const transactionHash = deposits.log(orderId)?.transactionHash
  reports.deposited(orderId, terms, signed, { deposit, transactionHash })
}

/** Whether what has arrived at the contract is what was quoted, or the market maker takes it, who is asked once for each deposit. */
function isEnough(
  { deposits, acceptLess, onError }: OrderParts,
  { orderId, chainId, inputAmount }: KnownOrder,
  signed: SolverQuote | undefined,
  isNew: boolean,
): boolean {
  const quoted = signed?.quote.inputAmount ?? deposits.log(orderId)?.quotedInput
  if (quoted !== undefined && inputAmount >= quoted) return true
  // No order waits for the answer: it may take long.
  const ask = async () => {
    if (signed !== undefined && (await acceptLess?.({ chainId, orderId, signed, inputAmount })))
      return deposits.accept(orderId)
    const words = `order ${orderId} has ${inputAmount} of the input of ${quoted ?? 'a quote that is not known'}, and is not paid`
    throw new Error(words)
  }
  if (isNew) ask().catch(onError)
  return deposits.isAccepted(orderId)
}
