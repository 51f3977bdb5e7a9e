import type { ChainParts } from '../chain/chain-parts.js'
import type { StoredOrder } from '../state.js'
import type { PaymentEnd } from '../transactions/transaction-sender.js'
import type { Deposits } from './deposits.js'
import type { SolverQuote } from './fillable-order.js'
import type { OrderReports } from './order-reports.js'

/** What the steps of an order use, from its deposit to its end. */
export interface OrderParts extends ChainParts {
  readonly deposits: Deposits
  readonly reports: OrderReports
  /** Whether the nonce of a quote is being used up. */
  readonly isCancelling: (nonce: bigint) => boolean
}

interface HowItEnded {
  /** Otherwise it can still cost a part of the bond, and its quote must be ended as any other. */
  readonly isNonceUsed: boolean
  /** The solver's own payment. */
  readonly payment?: PaymentEnd
}

/**
 * Ends an order, and its quote with it. The report comes before the status: after a crash between both, it comes again.
 * @throws ChainReadError of a report that needs the order's terms
 */
export async function endOrder(
  parts: OrderParts,
  { orderId }: StoredOrder,
  status: StoredOrder['status'],
  { isNonceUsed, payment }: HowItEnded,
): Promise<void> {
  const { state, ledger, time, deposits, reports, onError } = parts
  const signed = state.quote(orderId)
  await reports.ended({ orderId, status, signed, where: deposits.of(orderId).where, payment })
  state.setStatus(orderId, status)
  if (signed === undefined) return
  // What was paid out must be missing from the holdings before it is missing from the promises.
  await parts.refresh().catch(onError)
  if (!isNonceUsed) return ledger.deposited(signed.quote, 'NONE')
  for (const other of ledger.get(signed.quote.nonce)?.signed ?? [signed])
    state.endQuote(other.orderId, time.passed())
  ledger.end(signed.quote)
}

/** A reorganisation has removed the end of a quote: it counts again. */
export function reopenQuote({ state, ledger }: OrderParts, signed: SolverQuote): void {
  if (ledger.get(signed.quote.nonce) !== undefined) return
  state.reopenQuote(signed.orderId)
  ledger.add(signed)
}
