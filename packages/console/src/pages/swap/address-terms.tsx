import type { Chain } from '../../../../../gen/aggregator/v1/chain_pb.js'
import { Deadline } from '../../components/time.js'
import { Amount } from '../../components/token-amount.js'
import { SPARE_SECONDS } from '../../data/orders/address-use.js'
import { formatSpan } from '../../format/time.js'
import { useWalletRead } from '../../wallet/use-wallet-read.js'
import type { SwapTerms } from './what-happens.js'

interface AddressTermsProps {
  readonly chain: Chain
  /** Undefined before there is an offer or a price. */
  readonly swap: SwapTerms | undefined
}

/** What a transfer to an address asks of the user, before there is an address. */
export function AddressTerms({ chain, swap }: AddressTermsProps) {
  const { chainId, defaultDepositWindow } = chain
  return (
    <dl class="facts terms">
      <dt>Send exactly</dt>
      <dd>
        <Amount chainId={chainId} address={swap?.inputToken ?? ''} amount={swap?.inputAmount} isShort />, in
        one transfer
      </dd>
      <dt>Send by</dt>
      <dd>
        {swap?.depositDeadline === undefined ? (
          `${formatSpan((defaultDepositWindow - SPARE_SECONDS) * 1000)} after the offer`
        ) : (
          <Deadline seconds={swap.depositDeadline - SPARE_SECONDS} />
        )}
      </dd>
      <AddressRisks chain={chain} />
    </dl>
  )
}

const BACK = 'No swap: you take it back after the fill deadline.'
const WAYS_BACK = {
  true: [BACK, 'You take your tokens back after the fill deadline, without compensation.'],
  false: ['It may be lost.', 'No way back: this contract keeps your tokens.'],
  undefined: ['It may be lost.', 'Not known. A connected wallet asks the contract; some keep your tokens.'],
} as const

/** What goes wrong with a transfer that is not as agreed, or that the solver does not want any more. */
export function AddressRisks({ chain }: { readonly chain: Chain }) {
  const hasWayBack = useWalletRead(chain, 'way back', ({ readWayBack }) => readWayBack(chain))
  const [late, cancelled] = WAYS_BACK[`${hasWayBack}`]
  return (
    <>
      <dt>Sent late</dt>
      <dd>{late}</dd>
      <dt>Sent short</dt>
      <dd>{BACK}</dd>
      <dt>If the solver cancels</dt>
      <dd>{cancelled}</dd>
    </>
  )
}
