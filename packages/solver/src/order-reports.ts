import type { Hex } from 'viem'
import type { ChainParts } from './chain-parts.js'
import type { FillableOrder, SolverQuote } from './fillable-order.js'
import type { StoredOrder } from './state.js'

/** An order that the solver looks at no more. */
export interface EndedOrder {
  readonly orderId: Hex
  readonly status: StoredOrder['status']
  /** Undefined when the state does not have its quote. */
  readonly signed: SolverQuote | undefined
  /** Where its deposit was; undefined when none was seen since the start. */
  readonly where: FillableOrder['deposit'] | undefined
  /** Of the solver's own payment. */
  readonly transactionHash: Hex | undefined
}

/** Builds what tells the market maker how an order has ended, and counts it. */
export function createOrderReports(parts: ChainParts): (order: EndedOrder) => void {
  const { chain, time, ledger, metrics, log, onError } = parts
  const { chainId } = chain
  return ({ orderId, status, signed, where, transactionHash }) => {
    log.info({ chainId, orderId, status, transactionHash }, 'order ended')
    // Other orders have ended before this state began.
    if (signed === undefined && transactionHash === undefined && where === undefined) return
    if (status === 'FILLED') {
      metrics.filled++
      parts.onFilled({ chainId, orderId, transactionHash })
    }
    if (status !== 'MISSED') return
    metrics.missed++
    onError(new Error(`order ${orderId} on chain ${chainId} was not paid by its fill deadline`))
    // Tokens at an address may come too late to be paid for, whatever the output token does.
    if (where !== 'CONTRACT' || signed === undefined) return
    if (!ledger.miss(signed.quote, time.passed())) return
    const { outputToken } = signed.quote
    onError(
      new Error(
        `quotes of ${outputToken} on chain ${chainId} are declined for an hour: missed orders cost too much`,
      ),
    )
  }
}
