import { getAddress, type Hex } from 'viem'
import type { ChainParts } from '../chain/chain-parts.js'
import { readOrder } from '../chain/orders.js'
import type { StoredOrder } from '../state.js'
import type { PaymentEnd } from '../transactions/transaction-sender.js'
import type { Deposits } from './deposits.js'
import type { OrderTerms, SolverQuote, Terms } from './fillable-order.js'

/** What the steps of an order use, from its deposit to its end. */
export interface OrderParts extends ChainParts {
  readonly deposits: Deposits
}

/**
 * Ends an order, and its quote with it. The report comes before the status: after a crash between both, it comes again.
 * @param isNonceUsed otherwise it can still cost a part of the bond, and its quote must be ended as any other
 * @param payment the solver's own
 * @throws ChainReadError of a report that needs the order's terms, and Error for an order that the node does not have
 */
export async function endOrder(
  parts: OrderParts,
  { orderId }: StoredOrder,
  status: StoredOrder['status'],
  isNonceUsed: boolean,
  payment?: PaymentEnd,
): Promise<void> {
  const { chain, state, ledger, time, deposits, log } = parts
  const signed = state.quote(orderId)
  log.info({ chainId: chain.chainId, orderId, status, transactionHash: payment?.hash }, 'order ended')
  // Other orders have ended before this state began.
  const isOwn = signed !== undefined || payment !== undefined || deposits.of(orderId).where !== undefined
  if (isOwn && status === 'FILLED') await reportFilled(parts, orderId, signed, payment)
  if (isOwn && status === 'MISSED') reportMissed(parts, orderId, signed)
  state.setStatus(orderId, status)
  if (signed === undefined) return
  if (!isNonceUsed) return ledger.deposited(signed.quote, 'NONE')
  for (const other of ledger.get(signed.quote.nonce)?.signed ?? [signed])
    state.endQuote(other.orderId, time.passed())
  // What others have paid is known by the next block.
  ledger.end(signed.quote, payment?.blockNumber ?? time.atDepth(0).blockNumber + 1n)
}

/** A reorganisation has removed the end of a quote: it counts again. */
export function reopenQuote({ state, ledger }: OrderParts, signed: SolverQuote): void {
  if (ledger.get(signed.quote.nonce) !== undefined) return
  state.reopenQuote(signed.orderId)
  ledger.add(signed)
}

/** The terms of an order as the market maker gets them. */
export function toPublicTerms(
  { chain: { chainId } }: OrderParts,
  orderId: Hex,
  terms: Terms,
  signed: SolverQuote | undefined,
): OrderTerms {
  return {
    ...terms,
    chainId,
    orderId,
    quoteId: signed?.quoteId,
    depositDeadline: signed?.quote.depositDeadline,
    user: getAddress(terms.user),
    inputToken: getAddress(terms.inputToken),
    outputToken: getAddress(terms.outputToken),
  }
}

async function readTerms({ chain }: OrderParts, orderId: Hex): Promise<Terms> {
  const order = await readOrder(chain, orderId)
  if (order.state === 'NONE') throw new Error(`the node does not show order ${orderId}`)
  return order
}

async function reportFilled(
  parts: OrderParts,
  orderId: Hex,
  signed: SolverQuote | undefined,
  payment: PaymentEnd | undefined,
): Promise<void> {
  const terms = signed?.quote ?? (await readTerms(parts, orderId))
  parts.metrics.filled++
  parts.onFilled({
    ...toPublicTerms(parts, orderId, terms, signed),
    transactionHash: payment?.hash,
    gasUsed: payment?.gasUsed,
    gasCost: payment?.fee,
  })
}

function reportMissed(parts: OrderParts, orderId: Hex, signed: SolverQuote | undefined): void {
  const { chain, ledger, metrics, deposits, onError } = parts
  metrics.missed++
  onError(new Error(`order ${orderId} on chain ${chain.chainId} was not paid by its fill deadline`))
  // Tokens at an address may come too late to be paid for, whatever the output token does.
  if (deposits.of(orderId).where !== 'CONTRACT' || signed === undefined || !ledger.miss(signed.quote)) return
  const { outputToken } = signed.quote
  const words = `quotes of ${outputToken} on chain ${chain.chainId} are declined for an hour: missed orders cost too much`
  onError(new Error(words))
}
