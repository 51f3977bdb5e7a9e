import type { Chain } from '../../../../../gen/aggregator/v1/chain_pb.js'
import { Amount, TokenName } from '../../components/token-amount.js'

/** What the user gets of the bond for each token that a solver does not pay: it counts smallest units, whatever they are worth. */
export function MissCost({ chain, token }: { readonly chain: Chain; readonly token: string }) {
  const { chainId, missCosts, bondToken } = chain
  const cost = missCosts.find((each) => each.token.toLowerCase() === token.toLowerCase())
  if (cost === undefined || bondToken === undefined) return null
  return (
    <p class="muted">
      A solver that does not pay returns what you sold, and a miss of 1{' '}
      <TokenName chainId={chainId} address={token} /> costs it{' '}
      <Amount chainId={chainId} address={bondToken.address} amount={cost.bond} />.
    </p>
  )
}
