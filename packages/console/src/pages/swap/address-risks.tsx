import type { Chain } from '../../../../../gen/aggregator/v1/chain_pb.js'
import { TokenName } from '../../components/token-amount.js'
import { useWalletRead } from '../../wallet/use-wallet-read.js'

const BACK = 'No swap. You take it back after the fill deadline.'
const LOST = 'No swap, and it may be lost.'
const WAYS_BACK = {
  true: [BACK, 'If the solver cancels, you take your tokens back then, without compensation.'],
  false: [LOST, 'If the solver cancels, there is no way back: this contract keeps your tokens.'],
  undefined: [
    LOST,
    'If the solver cancels, some contracts keep your tokens. A connected wallet asks this one.',
  ],
} as const

/** How a transfer can lose tokens: rows of its terms, before the user makes it. @param token to send */
export function AddressRisks({ chain, token }: { readonly chain: Chain; readonly token: string }) {
  const hasWayBack = useWalletRead(chain, 'way back', ({ readWayBack }) => readWayBack(chain))
  const [late, cancelled] = WAYS_BACK[`${hasWayBack}`]
  return (
    <>
      <dt class="risk">Late</dt>
      <dd>{late} An exchange may send too late: use a wallet of your own.</dd>
      <dt>Short</dt>
      <dd>{BACK} Send the whole amount, once.</dd>
      <dt>Cancelled</dt>
      <dd>{cancelled}</dd>
      <dt>Native coin</dt>
      <dd>
        Lost at a deposit address. Send <TokenName chainId={chain.chainId} address={token} isShort /> only,
        which is a token.
      </dd>
    </>
  )
}
