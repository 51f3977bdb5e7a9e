import { requestOf, settleCall } from '../chain/calls.js'
import type { ChainParts } from '../chain/chain-parts.js'
import { type AtBlock, isNonceUsed, readBalance, readOrder } from '../chain/orders.js'
import { isGivenUp } from '../orders/deposits.js'
import type { Filling } from '../orders/filling.js'
import { type SolverQuote, termsOf } from '../orders/order-terms.js'
import { isPrice, type LedgerQuote } from '../risk/quote-ledger.js'
import { max } from '../transactions/fees.js'
import { conclude } from './cancel-requests.js'
import { isKept, middleOf } from './ending-rules.js'

/** A quote whose end depends on others, and which nobody can pay for any more, is looked at so often. */
const LATER_SECONDS = 60

/** Builds the looks at open quotes. */
export function createQuoteLook(parts: ChainParts, filling: Filling) {
  const { chain, solver, state, time, ledger, addresses, books } = parts

  /** A balance that cannot be read keeps no quote open, unless its cancellation might take tokens from a user. */
  async function balanceOf(
    { quote, isForAddress }: LedgerQuote,
    { depositAddress }: SolverQuote,
    at: AtBlock,
  ) {
    const read = (at?: AtBlock) => readBalance(chain, quote.inputToken, depositAddress, at)
    try {
      return max(...(await Promise.all([read(at), read()])))
    } catch (error) {
      const isEarly = time.due() <= middleOf(quote)
      if (isEarly || (isForAddress && addresses.keepsTokens())) throw error
      return 0n
    }
  }

  async function canSettle(signed: SolverQuote): Promise<boolean> {
    const { quote, orderId } = signed
    const { status = 'QUOTED' } = state.order(orderId) ?? {}
    const isOver = time.passed() > quote.fillDeadline || (status !== 'QUOTED' && status !== 'OPEN')
    if (isPrice(quote) || isOver || isGivenUp(filling.deposits.get(orderId))) return false
    // A payment that needs more is not sent.
    const call = { ...requestOf(solver, settleCall(chain, signed)), gas: chain.maxGas }
    return chain.client.call(call).then(
      () => true,
      () => false,
    )
  }

  /**
   * Ends a quote whose nonce is used by a cancellation. One that was taken is ended by what comes of its order.
   * @param at the block at which the nonce is used: what has used it is read there, too
   */
  async function endQuote(entry: LedgerQuote, at: AtBlock): Promise<void> {
    const { quote, signed } = entry
    const orders = await Promise.all(signed.map(({ orderId }) => readOrder(chain, orderId, at)))
    const taken = orders.find((order) => order.state !== 'NONE')
    conclude(entry, taken === undefined ? 'CANCELLED' : 'TAKEN')
    entry.laterLook = undefined
    if (taken !== undefined) return filling.taken(taken.orderId, taken.fillDeadline)
    if (!isPrice(quote)) for (const each of signed) books.cancelled(termsOf(each))
    for (const each of signed.slice(0, 1)) ledger.end(each)
  }

  /**
   * Looks at an open quote once. Its nonce is used, and it ends; or its tokens lie at its address, and it is paid or kept; or its nonce
   * is to be used up.
   * @param isSpared whether it may stay open, since it is small and nobody asked for its end
   * @returns whether it is to be cancelled
   * @throws ChainReadError, viem's errors
   */
  return async (entry: LedgerQuote, isSpared: () => boolean): Promise<boolean> => {
    const { quote } = entry
    const [signed] = entry.signed
    if (signed === undefined) return false
    // The newest block, and what came after it. A node that does not have this block must not answer for it.
    const at = time.atDepth(0)
    const [wasUsed, isUsed, balance] = await Promise.all([
      isNonceUsed(chain, solver, quote.nonce, at),
      isNonceUsed(chain, solver, quote.nonce),
      balanceOf(entry, signed, at),
    ])
    if (wasUsed) await endQuote(entry, at)
    // Otherwise a later block says how it has ended: one node may show its use before another one shows its order.
    if (isUsed) return false
    const isPaid = balance >= quote.inputAmount && (await canSettle(signed))
    const [keepsTokens, now] = [addresses.keepsTokens(), time.due()]
    if (!isPaid && !isKept(entry, now, balance, keepsTokens) && !isSpared()) return true
    conclude(entry, isPaid ? 'TAKEN' : 'KEPT')
    if (isPaid) filling.deposited(signed.orderId, quote.fillDeadline)
    else if (time.passed() > quote.fillDeadline) entry.laterLook = now + LATER_SECONDS
    return false
  }
}
