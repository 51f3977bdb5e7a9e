import type { Hex } from 'viem'
import { requestOf, settleCall } from '../chain/calls.js'
import type { ChainParts } from '../chain/chain-parts.js'
import { readSlash } from '../chain/logs.js'
import { type AtBlock, isNonceUsed, readBalance, readOrder } from '../chain/orders.js'
import type { Filling } from '../orders/filling.js'
import { type SolverQuote, termsOf } from '../orders/order-terms.js'
import { isPrice, type LedgerQuote } from '../risk/quote-ledger.js'
import { isPayable } from '../state.js'
import type { CancelRequests } from './cancel-requests.js'
import { decideEnd, middleOf } from './ending-rules.js'

/** What the looks at open quotes use. */
export interface EndingParts extends ChainParts {
  readonly filling: Pick<Filling, 'deposited' | 'hasGivenUp' | 'isUnread'>
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
  if (wasUsed) await endQuote(parts, entry, signed, at)
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
  if (isOver || filling.hasGivenUp(orderId)) return false
  // A payment that needs more is not sent.
  return chain.client.call({ ...requestOf(solver, settleCall(chain, signed)), gas: chain.maxGas }).then(
    () => true,
    () => false,
  )
}

/**
 * Ends a quote whose nonce is used: by an order, by a cancellation, or by a refund. A price that was deposited is found by the event of
 * the contract.
 * @param at the block at which the nonce is used: what has used it is read there, too
 * @throws ChainReadError, viem's errors
 */
async function endQuote(
  parts: EndingParts,
  entry: LedgerQuote,
  signed: SolverQuote,
  at: AtBlock,
): Promise<void> {
  const { chain, state, ledger, time, books, filling, requests, laterLooks } = parts
  const { quote } = entry
  const orders = await Promise.all(entry.signed.map(({ orderId }) => readOrder(chain, orderId, at)))
  const taken = orders.find((order) => order.state !== 'NONE')
  requests.conclude(quote.nonce, taken === undefined ? 'CANCELLED' : 'TAKEN')
  // One that others have settled is followed until that is deep, too.
  const isNew = taken?.state === 'SETTLED' && isPayable(state.order(taken.orderId))
  if (taken?.state === 'DEPOSITED' || isNew) return filling.deposited(taken.orderId, taken.fillDeadline)
  if (taken?.state === 'REFUNDED') {
    const cost = await readSlash(chain, time, taken)
    if (cost === undefined) return
    if (cost > 0n) reportSlash(parts, entry, taken.orderId, cost)
  }
  if (taken === undefined && !isPrice(quote)) for (const each of entry.signed) books.cancelled(termsOf(each))
  laterLooks.delete(quote.nonce)
  ledger.end(signed)
}

function reportSlash(
  { chain, state, metrics, books, onError }: EndingParts,
  { isForAddress, signed }: LedgerQuote,
  orderId: Hex,
  cost: bigint,
): void {
  for (const each of signed) if (each.orderId === orderId) books.missed({ ...termsOf(each), cost })
  const then = isForAddress ? ': quotes for deposit addresses are declined there for 24 hours' : ''
  onError(
    new Error(
      `order ${orderId} on chain ${chain.chainId} was paid for too late and refunded: it has cost ${cost} units of the bond token${then}`,
    ),
  )
  if (state.order(orderId)?.status !== 'MISSED') metrics.missed++
}
