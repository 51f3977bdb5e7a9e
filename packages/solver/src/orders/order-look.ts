import type { Order } from '../../../protocol/src/orders/order.js'
import type { ChainParts } from '../chain/chain-parts.js'
import { type AtBlock, readBalance, readOrder } from '../chain/contract.js'
import { isLeftToCancellation } from '../ending/ending-rules.js'
import type { StoredOrder } from '../state.js'
import { type Deposit, isGivenUp, type Place } from './deposits.js'
import { endOrder, readSlash } from './order-end.js'
import { type SolverQuote, type Terms, toPublicTerms } from './order-terms.js'

/**
 * Looks at an open order once. What the chain says of it decides: it has ended; its deposit has not come, or has gone; or it is to be
 * paid.
 * @returns whether it is to be paid now
 */
export async function lookAtOrder(parts: ChainParts, order: StoredOrder, deposit: Deposit): Promise<boolean> {
  const { orderId, fillDeadline, signed } = order
  const { chain, solver, state, ledger, time, addresses, books, metrics, log } = parts
  const seen = await readOrder(chain, orderId)
  const isOver = time.surelyPassed() > fillDeadline
  const entry = signed && ledger.get(signed.quote.nonce)
  const isEnded = seen.state === 'NONE' ? signed && !entry : seen.state !== 'DEPOSITED'
  if (isOver || isEnded) {
    await end()
    return false
  }
  const place = await findDeposit(parts, seen, signed)
  if (place === undefined && books.isDepositTold(orderId) && (await isGone())) {
    books.removed(orderId)
    deposit.told = undefined
  }
  const terms = seen.state === 'NONE' ? signed?.quote : seen
  const inputAmount = place && terms?.inputAmount
  // It is there for the first time, has moved or changed, and all begins again; or a reorganisation has removed it, and its quote must
  // be ended as any other.
  if (place !== deposit.place || inputAmount !== deposit.inputAmount) {
    Object.assign(deposit, { place, inputAmount, reverts: 0, asked: undefined })
    if (place !== undefined) {
      metrics.deposits++
      log.info({ chainId: chain.chainId, orderId, place }, 'deposit')
      if (signed !== undefined) ledger.reopen(signed)
    }
    if (signed !== undefined) ledger.deposited(signed.quote, place ?? 'NONE')
  }
  if (place === undefined || terms === undefined || isGivenUp(deposit)) return false
  if (place === 'ADDRESS' && signed !== undefined) {
    // A deposit by a call may still show up.
    const isLate = time.passed() > addresses.lastSettle(signed.quote)
    if (isLate || isLeftToCancellation(entry, time.due())) return false
  }
  return consultMaker(parts, order, deposit, place, terms)

  async function end(): Promise<void> {
    if (seen.state === 'SETTLED') return endOrder(parts, order, deposit, 'FILLED')
    if (seen.state === 'NONE') {
      // Its nonce was used up before it could be paid; or a reorganisation has removed its deposit, and none came again.
      if (!isOver || (deposit.place ?? (await findDeposit(parts, seen, signed))) === undefined) return drop()
      return endOrder(parts, order, deposit, 'MISSED', { isNonceUsed: false })
    }
    // Where the bond is still reserved, it counts as slashed from now on: anybody may refund the order.
    const slash = () => (seen.state === 'REFUNDED' ? readSlash(parts, seen) : ledger.bondOf(seen))
    const cost = seen.solver === solver ? await slash() : 0n
    // The node does not show it yet.
    if (cost === undefined) return
    if (cost > 0n || deposit.place === 'CONTRACT') return endOrder(parts, order, deposit, 'MISSED', { cost })
    // Its address was emptied.
    if (signed !== undefined) ledger.end(signed)
    drop('MISSED')
  }

  /** Nothing is owed. */
  function drop(status: 'QUOTED' | 'MISSED' = 'QUOTED'): void {
    books.removed(orderId)
    state.setStatus(orderId, status)
  }

  /** A node may lag: what was told is gone when a later block does not have it. */
  async function isGone(): Promise<boolean> {
    const head = time.atDepth(0)
    // Blocks may have equal times.
    if (deposit.told !== undefined && head.blockNumber <= deposit.told.blockNumber) return false
    const now = await readOrder(chain, orderId, head)
    return now.state === 'NONE' && (await findDeposit(parts, now, signed, head)) === undefined
  }
}

/**
 * Tells the market maker of a deposit that is to be paid, and asks it where it has a say: once for each deposit. What was quoted is
 * due, unless the market maker says no, and less than that when it says so. No look waits for its answer.
 * @returns whether the deposit is to be paid now
 */
function consultMaker(
  { time, books, options, onError }: ChainParts,
  order: StoredOrder,
  deposit: Deposit,
  place: Place,
  terms: Terms,
): boolean {
  const { orderId, signed } = order
  const { inputAmount } = terms
  const word = deposit.asked?.word
  const quoted = signed?.quote.inputAmount ?? deposit.quotedInput
  const isShort = quoted === undefined || inputAmount < quoted
  const told = { ...toPublicTerms(order, terms), deposit: place, transactionHash: deposit.transactionHash }
  const isTold = deposit.told?.place === place && deposit.told.inputAmount === inputAmount
  if ((!isShort || word === 'YES') && !isTold) {
    deposit.told = { place, inputAmount, ...time.atDepth(0) }
    books.deposited(told)
  }
  if (!isShort && options.mayFill === undefined) return true
  if (deposit.asked === undefined) void ask()
  return word === 'YES'

  async function ask(): Promise<void> {
    // An answer that comes when the deposit has changed says nothing of the next one.
    const asked: Deposit['asked'] = {}
    deposit.asked = asked
    try {
      const isYes = isShort
        ? signed && (await options.acceptLess?.({ ...told, quotedInputAmount: signed.quote.inputAmount }))
        : await options.mayFill?.(told)
      asked.word = isYes ? 'YES' : 'NO'
    } catch (error) {
      if (deposit.asked === asked) deposit.asked = undefined
      return onError(error)
    }
    if (asked.word === 'YES') return
    const of = quoted ?? 'a quote that is not known'
    const why = isShort ? `has ${inputAmount} of the input of ${of}` : 'is not wanted'
    onError(new Error(`order ${orderId} ${why}, and is not paid`))
  }
}

/**
 * Finds where the deposit of an order is that has not ended.
 * @returns undefined while no deposit is there, or the order belongs to another solver
 * @throws ChainReadError, viem's errors
 */
export async function findDeposit(
  { chain, solver }: ChainParts,
  order: Order,
  signed: SolverQuote | undefined,
  at?: AtBlock,
): Promise<Place | undefined> {
  if (order.state === 'DEPOSITED') return order.solver === solver ? 'CONTRACT' : undefined
  if (signed === undefined) return undefined
  const { inputToken, inputAmount } = signed.quote
  return (await readBalance(chain, inputToken, signed.depositAddress, at)) >= inputAmount
    ? 'ADDRESS'
    : undefined
}
