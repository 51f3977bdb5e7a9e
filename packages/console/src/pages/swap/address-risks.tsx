import type { Chain } from '../../../../../gen/aggregator/v1/chain_pb.js'
import { Deadline } from '../../components/time.js'
import { TokenName } from '../../components/token-amount.js'
import { SPARE_SECONDS } from '../../data/orders/address-use.js'
import type { SwapTerms } from './what-happens.js'

interface AddressRisksProps {
  readonly chain: Chain
  /** What is to be sent, and until when. */
  readonly swap: SwapTerms
}

/** How a transfer can lose tokens, the worst first. */
export function AddressRisks({ chain, swap: { inputToken, depositDeadline } }: AddressRisksProps) {
  return (
    <ul class="risks">
      <li>
        <strong>
          Send only <TokenName chainId={chain.chainId} address={inputToken} isShort />, on {chain.name}.
        </strong>{' '}
        Another token or the native coin is lost.
      </li>
      <li>
        <strong>
          It must arrive by{' '}
          {depositDeadline ? <Deadline seconds={depositDeadline - SPARE_SECONDS} /> : 'the deadline'}.
        </strong>{' '}
        What comes late, or after the solver has cancelled, may be lost.
      </li>
      <li>
        <strong>Send the exact amount, once.</strong> Anything else comes back only with the signed quote.
      </li>
      <li>
        <strong>Send from your own wallet.</strong> An exchange may send less, or too late.
      </li>
    </ul>
  )
}
