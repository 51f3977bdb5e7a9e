import type { DropReason } from '../../packages/protocol/src/quotes/offer.js'
import type { Quote, QuoteRequest } from '../../packages/protocol/src/quotes/quote.js'
import { bondFor } from '../../packages/protocol/src/settlement/settlement.js'
import type { SolverKey } from '../../packages/protocol/src/solvers/solver.js'
import type { Chain } from '../chain/chain.js'
import type { FreeBonds } from '../solvers/bonds/free-bonds.js'
import type { UsedNonces } from '../solvers/nonces/used-nonces.js'

/** The settlement contract's reasons to reject a signed offer, from state in memory (docs/decisions.md, D13). */
export interface ContractRules {
  /** Whether the offers of a solver can be checked. */
  canCheck(solver: SolverKey): boolean
  /**
   * The first reason for which `deposit` and `settle` would revert. A solver may repeat a nonce until an order or a cancellation
   * has used it.
   */
  violationOf(request: Pick<QuoteRequest, 'chainId' | 'kind'>, quote: Quote): DropReason | undefined
}

interface ContractRulesOptions {
  readonly chains: ReadonlyMap<number, Pick<Chain, 'terms'>>
  readonly freeBonds: Pick<FreeBonds, 'of'>
  readonly usedNonces: Pick<UsedNonces, 'isUsed'>
}

/** Builds the rules of all chains. The check of an offer reads nothing from the chain. */
export function createContractRules(options: ContractRulesOptions): ContractRules {
  const { chains, freeBonds, usedNonces } = options
  return {
    canCheck: (solver) =>
      chains.get(solver.chainId)?.terms().bondReservationBps === undefined ||
      freeBonds.of(solver) !== undefined,

    violationOf({ chainId }, { solver: address, outputAmount, nonce }) {
      const { bondReservationBps, minOrder } = chains.get(chainId)?.terms() ?? {}
      const key = { chainId, address }
      if (minOrder !== undefined && outputAmount < minOrder) return 'below_minimum_order'
      if (bondReservationBps !== undefined) {
        const isCovered = bondFor(outputAmount, bondReservationBps) <= (freeBonds.of(key) ?? 0n)
        if (!isCovered) return 'bond_too_small'
      }
      return usedNonces.isUsed(key, nonce) ? 'nonce_used' : undefined
    },
  }
}
