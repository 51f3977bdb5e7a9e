import type { Chain } from '../../../../../gen/aggregator/v1/chain_pb.js'
import { TokenName } from '../../components/token-amount.js'
import { useWalletRead } from '../../wallet/use-wallet-read.js'

interface AddressRisksProps {
  readonly chain: Chain
  /** What is to be sent. */
  readonly token: string
}

/** How a transfer can lose tokens, the worst first. A connected wallet asks the contract whether what comes late comes back. */
export function AddressRisks({ chain, token }: AddressRisksProps) {
  const isBack = useWalletRead(chain, 'way back', ({ readWayBack }) => readWayBack(chain))
  return (
    <ul class="risks">
      <li>
        Another token than <TokenName chainId={chain.chainId} address={token} isShort />, or the native coin:
        lost
      </li>
      <li>Late, short or cancelled: {isBack ? 'no swap' : 'may be lost'}. A refund needs the signed quote</li>
      <li>Sent from an exchange: may be lost</li>
      <li>An exchange's address given as yours: may be lost</li>
    </ul>
  )
}
