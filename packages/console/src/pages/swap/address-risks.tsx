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
      <li>Late or cancelled: {isBack ? 'no swap, back with the signed quote only' : 'may be lost'}</li>
      <li>Short, or a second time: no swap, back with the signed quote only</li>
      <li>From an exchange, or with its address as yours: may be lost</li>
    </ul>
  )
}
