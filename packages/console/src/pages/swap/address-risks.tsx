import type { Chain } from '../../../../../gen/aggregator/v1/chain_pb.js'
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

/** How a transfer can lose tokens, before the user makes it. */
export function AddressRisks({ chain }: { readonly chain: Chain }) {
  const hasWayBack = useWalletRead(chain, 'way back', ({ readWayBack }) => readWayBack(chain))
  return (
    <div class="notice notice-warning address-risks">
      {WAYS_BACK[`${hasWayBack}`].map((risk) => (
        <p key={risk}>{risk}</p>
      ))}
      <p>Send once, from a wallet of your own: an exchange may send too late, or less.</p>
    </div>
  )
}
