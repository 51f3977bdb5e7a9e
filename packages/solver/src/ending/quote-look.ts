import { requestOf, settleCall } from '../chain/calls.js'
import type { ChainParts } from '../chain/chain-parts.js'
import { type AtBlock, isNonceUsed, readBalance, readOrder } from '../chain/orders.js'
import { isGivenUp } from '../orders/deposits.js'
import type { Filling } from '../orders/filling.js'
import { type SolverQuote, termsOf } from '../orders/order-terms.js'
import { isPrice, type LedgerQuote } from '../risk/quote-ledger.js'
import { isPayable } from '../state.js'
import type { CancelRequests } from './cancel-requests.js'
import { decideEnd, middleOf } from './ending-rules.js'

/** What the looks at open quotes use. */
export interface EndingParts extends ChainParts {
  readonly filling: Pick<Filling, 'deposited' | 'taken' | 'deposits'>
  readonly requests: CancelRequests
  /** By nonce: when the next look at a quote is due whose end depends on others, in Unix seconds of the chain. */
  readonly laterLooks: Map<bigint, number>
}

/** A quote whose end depends on others, and which nobody can pay for any more, is looked at so often. */
const LATER_SECONDS = 60

/**
 * Looks at an open quote once. Its nonce is used, and it ends; or its tokens lie at its address, and it is paid or kept; or its nonce is
 * to be used up.
 * @param at the newest block: what came after it counts as well
 * @param isSpared whether it may stay open, since it is small and nobody asked for its end
 * @returns whether it is to be cancelled
 * @throws ChainReadError, viem's errors
 */
export async function lookAtQuote(
  parts: EndingParts,
  entry: LedgerQuote,
  at: AtBlock,
  isSpared: () => boolean,
): Promise<boolean> {
  const { chain, solver, time, addresses, filling, requests } = parts
  const { quote } = entry
  const [signed] = entry.signed
  if (signed === undefined) return false
  const [wasUsed, isUsed, balance] = await Promise.all([
    isNonceUsed(chain, solver, quote.nonce, at),
    isNonceUsed(chain, solver, quote.nonce),
    balanceOf(parts, entry, signed, at),
  ])
  if (wasUsed) await endQuote(parts, entry, at)
  // Otherwise a later block says how it has ended: one node may show its use before another one shows its order.
  if (isUsed) return false
  const isPaid = balance >= quote.inputAmount
  const decision = decideEnd(entry, {
    time: time.due(),
    balance,
    canSettle: isPaid && !isPrice(quote) && (await canSettle(parts, signed)),
    isSpared: isSpared(),
    keepsTokens: addresses.keepsTokens(),
  })
  if (decision === 'CANCEL') return true
  requests.conclude(quote.nonce, decision === 'PAY' ? 'TAKEN' : 'KEPT')
  if (decision === 'PAY') filling.deposited(signed.orderId, quote.fillDeadline)
  else if (time.passed() > quote.fillDeadline) parts.laterLooks.set(quote.nonce, time.due() + LATER_SECONDS)
  return false
}

/** A balance that cannot be read keeps no quote open, unless its cancellation might take tokens from a user. */
async function balanceOf(
  { chain, time, addresses }: EndingParts,
  { quote, isForAddress }: LedgerQuote,
  { depositAddress }: SolverQuote,
  at: AtBlock,
): Promise<bigint> {
  try {
    const [before, now] = await Promise.all([
      readBalance(chain, quote.inputToken, depositAddress, at),
      readBalance(chain, quote.inputToken, depositAddress),
    ])
    return before > now ? before : now
  } catch (error) {
    const isEarly = time.due() <= middleOf(quote)
    if (isEarly || (isForAddress && addresses.keepsTokens())) throw error
    return 0n
  }
}

async function canSettle(
  { chain, solver, state, time, filling }: EndingParts,
  signed: SolverQuote,
): Promise<boolean> {
  const { quote, orderId } = signed
  const isOver = time.passed() > quote.fillDeadline || !isPayable(state.order(orderId))
  if (isOver || isGivenUp(filling.deposits.get(orderId))) return false
  // A payment that needs more is not sent.
  return chain.client.call({ ...requestOf(solver, settleCall(chain, signed)), gas: chain.maxGas }).then(
    () => true,
    () => false,
  )
}

/**
 * Ends a quote whose nonce is used by a cancellation. One that was taken is ended by what comes of its order.
 * @param at the block at which the nonce is used: what has used it is read there, too
 * @throws ChainReadError, viem's errors
 */
async function endQuote(
  { chain, ledger, books, filling, requests, laterLooks }: EndingParts,
  { quote, signed }: LedgerQuote,
  at: AtBlock,
): Promise<void> {
  const orders = await Promise.all(signed.map(({ orderId }) => readOrder(chain, orderId, at)))
  const taken = orders.find((order) => order.state !== 'NONE')
  requests.conclude(quote.nonce, taken === undefined ? 'CANCELLED' : 'TAKEN')
  laterLooks.delete(quote.nonce)
  if (taken !== undefined) return filling.taken(taken.orderId, taken.fillDeadline)
  if (!isPrice(quote)) for (const each of signed) books.cancelled(termsOf(each))
  for (const each of signed.slice(0, 1)) ledger.end(each)
}
