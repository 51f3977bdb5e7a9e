import type { KnownOrder, Order } from '../../../protocol/src/orders/order.js'
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
  const { chain, solver, state, ledger, time, addresses, books, metrics, options, onError } = parts
  const { chainId } = chain
  const seen = await readOrder(chain, orderId)
  const isOver = time.surelyPassed() > fillDeadline
  if (seen.state === 'SETTLED') return endOrder(parts, order, deposit, 'FILLED')
  if (seen.state === 'REFUNDED' || (seen.state === 'DEPOSITED' && isOver)) return endUnpaid(seen)
  // Its nonce was used up before it could be paid.
  const entry = signed && ledger.get(signed.quote.nonce)
  if (seen.state === 'NONE' && signed !== undefined && entry === undefined && !isOver) return drop()
  const place = await findDeposit(parts, seen, signed)
  // Where there was none, a reorganisation has removed it, and none came again.
  if (isOver && (deposit.place ?? place) === undefined) return drop()
  if (isOver) return endOrder(parts, order, deposit, 'MISSED', { isNonceUsed: false })

  if (place === undefined && books.isDepositTold(orderId) && (await isGone())) {
    books.removed(orderId)
    deposit.told = undefined
  }
  const terms = seen.state === 'NONE' ? signed?.quote : seen
  const inputAmount = place && terms?.inputAmount
  if (place !== deposit.place || inputAmount !== deposit.inputAmount) takeDeposit()
  if (place === undefined || terms === undefined || isGivenUp(deposit)) return false
  if (place === 'CONTRACT' || signed === undefined) return isWanted(place, terms)
  // A deposit by a call may still show up.
  const isLate = time.passed() > addresses.lastSettle(signed.quote)
  return !isLate && !isLeftToCancellation(entry, time.due()) && isWanted(place, terms)

  /** Where the bond is still reserved, it counts as slashed from now on: anybody may refund the order. */
  async function endUnpaid(late: KnownOrder): Promise<boolean> {
    const slash = () => (late.state === 'REFUNDED' ? readSlash(parts, late) : ledger.bondOf(late))
    const cost = late.solver === solver ? await slash() : 0n
    // The node does not show it yet.
    if (cost === undefined) return false
    if (cost > 0n || deposit.place === 'CONTRACT') return endOrder(parts, order, deposit, 'MISSED', { cost })
    // Its address was emptied.
    if (signed !== undefined) ledger.end(signed)
    return drop('MISSED')
  }

  /** Nothing is owed. */
  function drop(status: 'QUOTED' | 'MISSED' = 'QUOTED'): false {
    books.removed(orderId)
    state.setStatus(orderId, status)
    return false
  }

  /**
   * A deposit is there for the first time, has moved or changed, and all begins again; or a reorganisation has removed it, and its quote
   * must be ended as any other.
   */
  function takeDeposit(): void {
    Object.assign(deposit, { place, inputAmount, reverts: 0, asked: undefined })
    if (place !== undefined) {
      metrics.deposits++
      parts.log.info({ chainId, orderId, place }, 'deposit')
      if (signed !== undefined) ledger.reopen(signed)
    }
    if (signed !== undefined) ledger.deposited(signed.quote, place ?? 'NONE')
  }

  /**
   * What was quoted is due, unless the market maker says no, and less than that when it says so. It is told of a deposit that is to be
   * paid, and asked, once for each deposit: no look waits for the answer.
   */
  function isWanted(place: Place, terms: Terms): boolean {
    const { inputAmount } = terms
    const { transactionHash, quotedInput } = deposit
    const word = deposit.asked?.word
    const quoted = signed?.quote.inputAmount ?? quotedInput
    const isShort = quoted === undefined || inputAmount < quoted
    const told = { ...toPublicTerms(order, terms), deposit: place, transactionHash }
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
      const asked: NonNullable<Deposit['asked']> = {}
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
      const known = quoted ?? 'a quote that is not known'
      const why = isShort ? `has ${inputAmount} of the input of ${known}` : 'is not wanted'
      onError(new Error(`order ${orderId} ${why}, and is not paid`))
    }
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
