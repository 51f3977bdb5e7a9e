import type { Hex } from 'viem'
import type { KnownOrder, Order } from '../../../protocol/src/orders/order.js'
import { readSlash } from '../chain/logs.js'
import { type AtBlock, readBalance, readOrder } from '../chain/orders.js'
import type { StoredOrder } from '../state.js'
import { type Deposit, moveDeposit } from './deposits.js'
import { endOrder, type OrderParts } from './order-end.js'
import { type DepositedOrder, type SolverQuote, type Terms, toPublicTerms } from './order-terms.js'

/** A payment that must be made. */
export interface DuePayment {
  readonly deposit: DepositedOrder['deposit']
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
  const { chain, solver, signal, state, ledger, time, deposits, addresses, books } = parts
  const { options, onError } = parts
  const { mayFill, acceptLess } = options
  signal.throwIfAborted()
  const seen = await readOrder(chain, orderId)

  const deposit = deposits.of(orderId)
  const before = deposit.where
  if (seen.state === 'SETTLED' || seen.state === 'REFUNDED' || time.surelyPassed() > fillDeadline) {
    if (seen.state === 'SETTLED') return endOrder(parts, order, 'FILLED')
    if (seen.state !== 'NONE') return endUnpaid(seen)
    const isThere = before !== undefined || (await findDeposit(parts, seen, signed)) !== undefined
    // Otherwise a reorganisation has removed its deposit, and none came again.
    return isThere ? endOrder(parts, order, 'MISSED', { isNonceUsed: false }) : drop()
  }
  // Its nonce was used up before it could be paid.
  if (seen.state === 'NONE' && signed !== undefined && ledger.get(signed.quote.nonce) === undefined)
    return drop()

  const where = await findDeposit(parts, seen, signed)
  if (where === undefined && books.isDepositTold(orderId) && (await isGone())) books.removed(orderId)
  if (where !== before) takeDeposit(parts, orderId, where, signed)
  if (where === undefined || deposits.hasGivenUp(orderId)) return undefined

  if (seen.state === 'DEPOSITED') return dueIfWanted('CONTRACT', fillDeadline, seen)
  if (signed === undefined || parts.isCancelling(signed.quote)) return undefined
  // A deposit by a call may still show up.
  if (time.passed() > addresses.givenUpAfter(signed.quote)) return undefined
  return dueIfWanted('ADDRESS', addresses.lastSettle(signed.quote), signed.quote)

  /** Where the bond is still reserved, it counts as slashed from now on: anybody may refund the order. */
  async function endUnpaid(late: KnownOrder): Promise<undefined> {
    const slash = () => (late.state === 'REFUNDED' ? readSlash(chain, time, late) : ledger.bondOf(late))
    const cost = late.solver === solver ? await slash() : 0n
    // The node does not show it yet.
    if (cost === undefined) return undefined
    if (cost > 0n || before === 'CONTRACT') return endOrder(parts, order, 'MISSED', { cost })
    // Its address was emptied.
    if (signed !== undefined) ledger.end(signed)
    return drop('MISSED')
  }

  /** Nothing is owed. */
  function drop(status: 'QUOTED' | 'MISSED' = 'QUOTED'): undefined {
    books.removed(orderId)
    state.setStatus(orderId, status)
  }

  /**
   * What was quoted is due, unless the market maker says no, and less than that when it says so. It is told of a deposit that is to be
   * paid, and asked, once for each deposit: no look waits for the answer.
   */
  function dueIfWanted(place: DepositedOrder['deposit'], deadline: number, terms: Terms) {
    const quoted = signed?.quote.inputAmount ?? deposit.log?.quotedInput
    const isShort = quoted === undefined || terms.inputAmount < quoted
    const transactionHash = deposit.log?.transactionHash
    const told = { ...toPublicTerms(chain.chainId, orderId, terms, signed), deposit: place, transactionHash }
    if (!isShort) announce(told)
    const isAsked = isShort || mayFill !== undefined
    if (isAsked && deposit.word === undefined) void ask(told, isShort, quoted)
    if (isAsked && deposit.word !== 'YES') return undefined
    announce(told)
    return { deposit: place, deadline }
  }

  function announce(told: DepositedOrder): void {
    if (deposit.isAnnounced) return
    deposit.isAnnounced = true
    deposit.toldAt = time.atDepth(0).blockNumber
    books.deposited(told)
  }

  async function ask(told: DepositedOrder, isShort: boolean, quoted?: bigint): Promise<void> {
    deposit.word = 'ASKED'
    const { inputAmount } = told
    try {
      const less = signed && { chainId: chain.chainId, orderId, signed, inputAmount }
      deposit.word = (await (isShort ? less && acceptLess?.(less) : mayFill?.(told))) ? 'YES' : 'NO'
    } catch (error) {
      deposit.word = undefined
      return onError(error)
    }
    if (deposit.word === 'YES') return
    const why = isShort
      ? `has ${inputAmount} of the input of ${quoted ?? 'a quote that is not known'}`
      : 'is not wanted'
    onError(new Error(`order ${orderId} ${why}, and is not paid`))
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
