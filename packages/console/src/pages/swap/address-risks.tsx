import type { Chain } from '../../../../../gen/aggregator/v1/chain_pb.js'
import { Deadline } from '../../components/time.js'
import { TokenName } from '../../components/token-amount.js'
import { SPARE_SECONDS } from '../../data/orders/address-use.js'
import { useWalletRead } from '../../wallet/use-wallet-read.js'

const BACK = 'no swap. You take it back after the fill deadline.'
const LOST = 'no swap, and it may be lost.'
const WAYS_BACK = {
  true: [BACK, 'If the solver cancels, you take your tokens back then, without compensation.'],
  false: [LOST, 'If the solver cancels, there is no way back: this contract keeps your tokens.'],
  undefined: [
    LOST,
    'If the solver cancels, some contracts keep your tokens. A connected wallet asks this one.',
  ],
} as const

/** What becomes of a transfer that comes late, and of one whose offer the solver cancels. */
const useWayBack = (chain: Chain) =>
  WAYS_BACK[`${useWalletRead(chain, 'way back', ({ readWayBack }) => readWayBack(chain))}`]

interface ArrivalProps {
  readonly chain: Chain
  /** Unix time in seconds; undefined for a price. */
  readonly depositDeadline: number | undefined
}

/** Until when a transfer must arrive, and what becomes of a later one. */
export const Arrival = ({ chain, depositDeadline }: ArrivalProps) => (
  <>
    {depositDeadline === undefined ? (
      'A late transfer is '
    ) : (
      <>
        After <Deadline seconds={depositDeadline - SPARE_SECONDS} />:{' '}
      </>
    )}
    {useWayBack(chain)[0]} An exchange may send too late: use a wallet of your own.
  </>
)

/** How a transfer can lose tokens, the worst first: rows of its terms, before the user makes it. @param token to send */
export const AddressRisks = ({ token, ...arrival }: ArrivalProps & { readonly token: string }) => (
  <>
    <dt class="risk">Late</dt>
    <dd class="risk">
      <Arrival {...arrival} />
    </dd>
    <dt class="risk">Cancelled</dt>
    <dd class="risk">{useWayBack(arrival.chain)[1]}</dd>
    <dt class="risk">Native coin</dt>
    <dd class="risk">
      Lost at a deposit address. Send <TokenName chainId={arrival.chain.chainId} address={token} isShort />{' '}
      only, which is a token.
    </dd>
    <dt>Short</dt>
    <dd>It is {BACK} Send the whole amount, once.</dd>
  </>
)
