import { type ContractRules, createContractRules } from '../quoting/round/offer-validator.js'
import type { SigningTerms } from './signing-terms.js'

/**
 * Builds the service's rules of the contract for one solver. The bond counts when the solver has one already. A nonce counts as
 * used once a firm offer has carried it.
 */
export function createTrialRules(signing: SigningTerms): Pick<ContractRules, 'violationOf'> {
  const { chainId, terms, freeBond } = signing
  const checked = freeBond === undefined ? { ...terms, bondReservationBps: undefined } : terms
  /** The nonces that this run has seen. It sends a bounded number of requests. */
  const sent = new Set<bigint>()
  const rules = createContractRules({
    chains: new Map([[chainId, { terms: () => checked }]]),
    freeBonds: { of: () => freeBond },
    usedNonces: { isUsed: (_key, nonce) => sent.has(nonce) },
  })
  return {
    violationOf(request, quote) {
      const violation = rules.violationOf(request, quote)
      if (request.kind === 'FIRM') sent.add(quote.nonce)
      return violation
    },
  }
}
