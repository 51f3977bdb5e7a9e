import type { Hex } from 'viem'
import type { Quote } from '../../../protocol/src/quotes/quote.js'
import type { ChainParts } from '../chain/chain-parts.js'
import { readOrder } from '../chain/orders.js'
import type { StoredOrder } from '../state.js'
import type { PaymentEnd } from '../transactions/transaction-sender.js'
import type { Deposits } from './deposits.js'
import { type Terms, toPublicTerms } from './order-terms.js'
import { readTrade } from './trade.js'

/** What the steps of an order use, from its deposit to its end. */
export interface OrderParts extends ChainParts {
  readonly deposits: Deposits
  /** A quote whose nonce is being used up is not paid at its address, unless that takes until the middle of its fill window. */
  readonly isCancelling: (quote: Quote) => boolean
}

interface OrderEnd {
  /** The solver's own. */
  readonly payment?: PaymentEnd
  /** Of one that was missed: what was taken from the bond, or is reserved, in the bond token's smallest unit. */
  readonly cost?: bigint
  /** Otherwise it can still cost a part of the bond, and its quote must be ended as any other. */
  readonly isNonceUsed?: boolean
}

/**
 * Ends an order, and its quote with it. The report comes before the status: after a crash between both, it comes again. One that others
 * have settled waits until the node shows how.
 * @throws ChainReadError of a report that needs the order's terms, and Error for an order that the node does not have
 */
export async function endOrder(
  parts: OrderParts,
  order: StoredOrder,
  status: 'FILLED' | 'MISSED',
  { payment, cost = 0n, isNonceUsed = true }: OrderEnd = {},
): Promise<undefined> {
  const { chain, state, ledger, time, deposits, log } = parts
  const { orderId, signed } = order
  // Other orders have ended before this state began.
  const { where, settledBy } = deposits.of(orderId)
  const isOwn = cost > 0n || [signed, payment, where, settledBy].some((known) => known !== undefined)
  if (isOwn && status === 'MISSED') await reportMissed(parts, order, cost)
  if (isOwn && status === 'FILLED' && !(await reportFilled(parts, order, payment))) return
  log.info({ chainId: chain.chainId, orderId, status, transactionHash: payment?.hash }, 'order ended')
  state.setStatus(orderId, isNonceUsed ? status : 'QUOTED')
  if (signed === undefined) return
  if (!isNonceUsed) ledger.deposited(signed.quote, 'NONE')
  // What others have paid is known by the next block.
  else ledger.end(signed, payment?.blockNumber ?? time.atDepth(0).blockNumber + 1n)
}

async function readTerms({ chain }: OrderParts, orderId: Hex): Promise<Terms> {
  const order = await readOrder(chain, orderId)
  if (order.state === 'NONE') throw new Error(`the node does not show order ${orderId}`)
  return order
}

/** @returns false while the node does not show how others have settled it */
async function reportFilled(
  parts: OrderParts,
  { orderId, signed }: StoredOrder,
  payment: PaymentEnd | undefined,
): Promise<boolean> {
  const { chain, time, metrics, books, deposits } = parts
  const terms = signed?.quote ?? (await readTerms(parts, orderId))
  const transactionHash = payment?.hash ?? deposits.of(orderId).settledBy
  const trade = transactionHash && (await readTrade(parts, orderId, terms, transactionHash))
  if (trade === undefined && payment === undefined && time.passed() <= terms.fillDeadline) return false
  const isNew = books.filled({
    ...toPublicTerms(chain.chainId, orderId, { ...terms, ...trade }, signed),
    transactionHash: payment?.hash ?? (trade && transactionHash),
    gasUsed: payment?.gasUsed,
    gasCost: payment?.fee,
  })
  if (isNew) metrics.filled++
  return true
}

async function reportMissed(
  parts: OrderParts,
  { orderId, signed }: StoredOrder,
  cost: bigint,
): Promise<void> {
  const { chain, losses, metrics, deposits, books, onError } = parts
  const { chainId } = chain
  const terms = signed?.quote ?? (await readTerms(parts, orderId))
  const { where: deposit } = deposits.of(orderId)
  const isFirst = books.missed({ ...toPublicTerms(chainId, orderId, terms, signed), deposit, cost })
  if (isFirst) metrics.missed++
  const costs = cost > 0n ? `, and has cost ${cost} units of the bond token` : ''
  const isSlashedAtAddress = cost > 0n && deposit !== 'CONTRACT' && signed?.isForAddress
  const then = isSlashedAtAddress ? ': quotes for deposit addresses are declined there for 24 hours' : ''
  onError(new Error(`order ${orderId} on chain ${chainId} was not paid by its fill deadline${costs}${then}`))
  const { outputToken } = terms
  if (deposit !== 'CONTRACT' || !losses.isRefused(outputToken)) return
  onError(
    new Error(
      `quotes of ${outputToken} on chain ${chainId} are declined for an hour: missed orders cost too much`,
    ),
  )
}
