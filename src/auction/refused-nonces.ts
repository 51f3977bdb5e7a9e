import type { Quote } from '../../packages/protocol/src/quotes/quote.js'
import type { Chain } from '../chain/chain.js'
import type { UsedNonces } from '../solvers/nonces/used-nonces.js'

/** Learns that the contract refused an offer with the error NonceAlreadyUsed. */
export type OnNonceRefused = (chainId: number, quote: Pick<Quote, 'solver' | 'nonce'>) => void

interface RefusedNoncesOptions {
  readonly chains: ReadonlyMap<number, Pick<Chain, 'isNonceUsed'>>
  readonly usedNonces: Pick<UsedNonces, 'isUsed' | 'setUsed'>
}

/** Reads under way. A nonce that is not read now is refused again. */
const MAX_READS = 20

/**
 * Builds the function. A caller's token can return any error, so that only the contract's own view makes the nonce used
 * (docs/decisions.md, D25).
 */
export function createOnNonceRefused({ chains, usedNonces }: RefusedNoncesOptions): OnNonceRefused {
  const reads = new Set<string>()
  return (chainId, { solver, nonce }) => {
    const key = { chainId, address: solver }
    const id = `${chainId} ${solver} ${nonce}`
    const chain = chains.get(chainId)
    if (chain === undefined || reads.size >= MAX_READS || reads.has(id) || usedNonces.isUsed(key, nonce))
      return
    reads.add(id)
    void chain
      .isNonceUsed(solver, nonce)
      .then(
        (isUsed) => isUsed && usedNonces.setUsed(key, [nonce]),
        () => {},
      )
      .finally(() => reads.delete(id))
  }
}
