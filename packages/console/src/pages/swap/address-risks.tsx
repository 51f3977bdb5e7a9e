import type { ComponentChildren } from 'preact'
import type { Chain } from '../../../../../gen/aggregator/v1/chain_pb.js'
import { Deadline } from '../../components/time.js'
import { TokenName } from '../../components/token-amount.js'
import { SPARE_SECONDS } from '../../data/orders/address-use.js'
import { useWalletRead } from '../../wallet/use-wallet-read.js'

export const BACK = 'no swap, and you take it back after the fill deadline'
const LOST = 'no swap, and the contract may keep your tokens'
/** What becomes of a transfer that comes late, and of one whose offer the solver cancels. */
const WAYS_BACK = {
  true: `${BACK}, without compensation`,
  false: LOST,
  undefined: `${LOST}. A connected wallet asks the contract whether it does`,
} as const

interface AddressRisksProps {
  readonly chain: Chain
  /** What is to be sent. */
  readonly token: string
  /** Unix time in seconds; undefined for a price. */
  readonly depositDeadline: number | undefined
  /** Those of a shown address, beside which the native coin is named. */
  readonly children?: ComponentChildren
}

/** How a transfer can lose tokens, the worst first. */
export function AddressRisks({ chain, token, depositDeadline, children }: AddressRisksProps) {
  const isBack = useWalletRead(chain, 'way back', ({ readWayBack }) => readWayBack(chain))
  const end =
    depositDeadline === undefined ? 'its time' : <Deadline seconds={depositDeadline - SPARE_SECONDS} />
  return (
    <dl class="facts risks">
      <dt>Late or cancelled{isBack ? '' : ': you may lose all of it'}</dt>
      <dd>
        If it arrives after {end}, or the solver cancels: {WAYS_BACK[`${isBack}`]}.
      </dd>
      {children === undefined && (
        <>
          <dt>Native coin</dt>
          <dd>
            Lost at a deposit address. Send <TokenName chainId={chain.chainId} address={token} isShort />{' '}
            only.
          </dd>
        </>
      )}
      <dt>Exchange</dt>
      <dd>Do not send from one, and get no refund at one: it may be late, and may not credit you.</dd>
      {children}
    </dl>
  )
}
