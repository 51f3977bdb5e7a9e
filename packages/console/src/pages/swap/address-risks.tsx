import type { Chain } from '../../../../../gen/aggregator/v1/chain_pb.js'
import { TokenName } from '../../components/token-amount.js'
import { useWalletRead } from '../../wallet/use-wallet-read.js'

const LATE = 'Sent late: it may be lost. Sent short: no swap, you take it back after the fill deadline.'
const WAYS_BACK = {
  true: [
    'Sent late or short: no swap. You take it back after the fill deadline.',
    'If the solver cancels: you take your tokens back then, without compensation.',
  ],
  false: [LATE, 'If the solver cancels: there is no way back, this contract keeps your tokens.'],
  undefined: [
    LATE,
    'If the solver cancels: some contracts keep your tokens. A connected wallet asks this one.',
  ],
} as const

/** How a transfer can lose tokens, before the user makes it. @param token to send */
export function AddressRisks({ chain, token }: { readonly chain: Chain; readonly token: string }) {
  const hasWayBack = useWalletRead(chain, 'way back', ({ readWayBack }) => readWayBack(chain))
  return (
    <ul class="notice notice-warning address-risks">
      <li>
        Send <TokenName chainId={chain.chainId} address={token} isShort /> only, which is a token. The
        network's own coin, such as ETH, is lost at a deposit address.
      </li>
      {WAYS_BACK[`${hasWayBack}`].map((risk) => (
        <li key={risk}>{risk}</li>
      ))}
      <li>Send once, from a wallet of your own: an exchange may send too late, or less.</li>
    </ul>
  )
}
