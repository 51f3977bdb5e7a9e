import type { Chain } from '../../../../../gen/aggregator/v1/chain_pb.js'
import { TokenName } from '../../components/token-amount.js'

interface AddressRisksProps {
  readonly chain: Chain
  /** What is to be sent. */
  readonly token: string
}

/** How a transfer can lose tokens, the worst first. */
export function AddressRisks({ chain, token }: AddressRisksProps) {
  return (
    <ul class="risks">
      <li>
        Send only <TokenName chainId={chain.chainId} address={token} isShort />: another token or the native
        coin is lost.
      </li>
      <li>Send before the deadline: what comes late, or after the solver has cancelled, may be lost.</li>
      <li>
        Send the exact amount, once: anything else comes back only with the signed quote, a file that you save
        next.
      </li>
      <li>Do not send from an exchange, nor give an exchange's address as yours.</li>
    </ul>
  )
}
