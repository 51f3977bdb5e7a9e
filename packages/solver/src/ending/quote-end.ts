import type { Hex } from 'viem'
import { readSlash } from '../chain/logs.js'
import { readOrder } from '../chain/orders.js'
import type { LedgerQuote } from '../risk/quote-ledger.js'
import type { EndingParts } from './ending-parts.js'

/**
 * Ends a quote whose nonce is used: by an order, by a cancellation, or by a refund. A price that was deposited is found by the event of
 * the contract.
 * @throws ChainReadError, viem's errors
 */
export async function endQuote(parts: EndingParts, entry: LedgerQuote): Promise<void> {
  const { chain, state, ledger, time, filling, requests, laterLooks } = parts
  const { quote } = entry
  const orders = await Promise.all(entry.signed.map(({ orderId }) => readOrder(chain, orderId)))
  const taken = orders.find((order) => order.state !== 'NONE')
  requests.conclude(quote.nonce, taken === undefined ? 'CANCELLED' : 'TAKEN')
  // One that others have settled is followed until that is deep, too.
  const isNew = taken?.state === 'SETTLED' && (state.order(taken.orderId)?.status ?? 'OPEN') === 'OPEN'
  if (taken?.state === 'DEPOSITED' || isNew) return filling.deposited(taken.orderId, taken.fillDeadline)
  if (taken?.state === 'REFUNDED') {
    const cost = await readSlash(chain, time, taken)
    if (cost === undefined) return
    if (cost > 0n) reportSlash(parts, entry, taken.orderId, cost)
  }
  laterLooks.delete(quote.nonce)
  for (const { orderId } of entry.signed) state.endQuote(orderId, time.passed())
  ledger.end(quote)
}

function reportSlash(
  { chain, addresses, state, metrics, onError }: EndingParts,
  { isForAddress }: LedgerQuote,
  orderId: Hex,
  cost: bigint,
): void {
  addresses.slashed(isForAddress)
  const then = isForAddress ? ': quotes for deposit addresses are declined there for 24 hours' : ''
  onError(
    new Error(
      `order ${orderId} on chain ${chain.chainId} was paid for too late and refunded: it has cost ${cost} units of the bond token${then}`,
    ),
  )
  if (state.order(orderId)?.status !== 'MISSED') metrics.missed++
}
