import type { DropReason } from '../quotes/offer.js'
import type { Quote } from '../quotes/quote.js'
import { bondFor, type SettlementTerms } from './settlement.js'

/** What is known of a settlement contract and of one solver there. */
export interface ContractFacts {
  readonly terms: Partial<SettlementTerms>
  /** In the bond token's smallest unit; one that is not known covers nothing. */
  readonly freeBond: bigint | undefined
  readonly isNonceUsed: (nonce: bigint) => boolean
}

/**
 * The first reason for which `deposit` and `settle` would revert (docs/decisions.md, D13). A solver may repeat a nonce until an
 * order or a cancellation has used it.
 */
export function violationOf(
  { outputAmount, nonce }: Pick<Quote, 'outputAmount' | 'nonce'>,
  { terms, freeBond = 0n, isNonceUsed }: ContractFacts,
): DropReason | undefined {
  const { bondReservationBps, minOrder } = terms
  if (minOrder !== undefined && outputAmount < minOrder) return 'below_minimum_order'
  if (bondReservationBps !== undefined && bondFor(outputAmount, bondReservationBps) > freeBond)
    return 'bond_too_small'
  return isNonceUsed(nonce) ? 'nonce_used' : undefined
}
