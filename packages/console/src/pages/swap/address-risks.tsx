import type { Chain } from '../../../../../gen/aggregator/v1/chain_pb.js'
import { Deadline } from '../../components/time.js'
import { TokenName } from '../../components/token-amount.js'
import { SPARE_SECONDS } from '../../data/orders/address-use.js'
import { useWalletRead } from '../../wallet/use-wallet-read.js'

const BACK = 'no swap, and you take it back after the fill deadline'
const LOST = 'no swap, and it may be lost'
const WAYS_BACK = {
  true: [BACK, 'You take your tokens back after the fill deadline, without compensation.'],
  false: [LOST, 'This contract keeps your tokens when the solver cancels.'],
  undefined: [
    LOST,
    'Not known: some contracts keep your tokens when the solver cancels. A connected wallet asks this one.',
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
    After{' '}
    {depositDeadline === undefined ? 'its time' : <Deadline seconds={depositDeadline - SPARE_SECONDS} />}:{' '}
    {useWayBack(chain)[0]}, so do not send from an exchange, which may be late.
  </>
)

/** How a transfer can lose tokens, the worst first, before the user makes it. @param token to send */
export const AddressRisks = ({ token, ...arrival }: ArrivalProps & { readonly token: string }) => (
  <dl class="facts risks">
    <dt>Late</dt>
    <dd>
      <Arrival {...arrival} />
    </dd>
    <dt>Native coin</dt>
    <dd>
      It is lost at a deposit address: send{' '}
      <TokenName chainId={arrival.chain.chainId} address={token} isShort /> only.
    </dd>
    <dt>Short, twice</dt>
    <dd>{BACK}. Send the whole amount, once.</dd>
    <dt>Cancelled</dt>
    <dd>{useWayBack(arrival.chain)[1]}</dd>
  </dl>
)
