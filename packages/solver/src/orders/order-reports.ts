import { getAddress, type Hex } from 'viem'
import type { ChainParts } from '../chain/chain-parts.js'
import { readOrder } from '../chain/orders.js'
import type { StoredOrder } from '../state.js'
import type { PaymentEnd } from '../transactions/transaction-sender.js'
import type { DepositedOrder, FillableOrder, OrderTerms, SolverQuote, Terms } from './fillable-order.js'

/** An order that the solver looks at no more. */
export interface EndedOrder {
  readonly orderId: Hex
  readonly status: StoredOrder['status']
  /** Undefined when the state does not have its quote. */
  readonly signed: SolverQuote | undefined
  /** Where its deposit was; undefined when none was seen since the start. */
  readonly where: FillableOrder['deposit'] | undefined
  /** The solver's own payment. */
  readonly payment: PaymentEnd | undefined
}

/** Where a deposit is, and its transaction. */
type FoundDeposit = Pick<DepositedOrder, 'deposit' | 'transactionHash'>

export type OrderReports = ReturnType<typeof createOrderReports>

/** Builds what tells the market maker of orders, and counts their ends. */
export function createOrderReports(parts: ChainParts) {
  const { chain, ledger, metrics, log, onError } = parts
  const { chainId } = chain

  const toPublic = (orderId: Hex, terms: Terms, signed: SolverQuote | undefined): OrderTerms => ({
    ...terms,
    chainId,
    orderId,
    quoteId: signed?.quoteId,
    depositDeadline: signed?.quote.depositDeadline,
    user: getAddress(terms.user),
    inputToken: getAddress(terms.inputToken),
    outputToken: getAddress(terms.outputToken),
  })

  /** @throws ChainReadError, and Error for an order that the node does not have */
  async function readTerms(orderId: Hex): Promise<Terms> {
    const order = await readOrder(chain, orderId)
    if (order.state === 'NONE') throw new Error(`the node does not show order ${orderId}`)
    return order
  }

  return {
    /** Its deposit was seen, and it is to be paid. */
    deposited(orderId: Hex, terms: Terms, signed: SolverQuote | undefined, found: FoundDeposit): void {
      parts.onDeposit({ ...toPublic(orderId, terms, signed), ...found })
    },
    /** @throws ChainReadError for an order whose quote the state does not have */
    async ended({ orderId, status, signed, where, payment }: EndedOrder): Promise<void> {
      const transactionHash = payment?.hash
      log.info({ chainId, orderId, status, transactionHash }, 'order ended')
      // Other orders have ended before this state began.
      if (signed === undefined && payment === undefined && where === undefined) return
      if (status === 'FILLED') {
        const terms = signed?.quote ?? (await readTerms(orderId))
        metrics.filled++
        const costs = { transactionHash, gasUsed: payment?.gasUsed, gasCost: payment?.fee }
        parts.onFilled({ ...toPublic(orderId, terms, signed), ...costs })
      }
      if (status !== 'MISSED') return
      metrics.missed++
      onError(new Error(`order ${orderId} on chain ${chainId} was not paid by its fill deadline`))
      // Tokens at an address may come too late to be paid for, whatever the output token does.
      if (where !== 'CONTRACT' || signed === undefined) return
      if (!ledger.miss(signed.quote)) return
      const { outputToken } = signed.quote
      onError(
        new Error(
          `quotes of ${outputToken} on chain ${chainId} are declined for an hour: missed orders cost too much`,
        ),
      )
    },
  }
}
