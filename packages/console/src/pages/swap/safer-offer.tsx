import type { ComponentChildren } from 'preact'
import type { Chain } from '../../../../../gen/aggregator/v1/chain_pb.js'
import { SolverLabel } from '../../components/id.js'
import { paidOf } from '../../components/paid.js'
import { Amount } from '../../components/token-amount.js'
import type { SaferPair } from '../../data/solvers/reliability.js'
import { group } from '../../format/amount.js'
import type { WantedSwap } from '../../wallet/swap-calls.js'

/** More than one unpaid order in so many is a warning. */
const SEEN = 20n

interface SaferOfferProps {
  readonly chain: Chain
  readonly wanted: Pick<WantedSwap, 'inputToken' | 'outputToken' | 'isExactInput'> | undefined
  readonly pair: SaferPair
  /** What the user can do now. */
  readonly children?: ComponentChildren
}

/** Where the solver of the shown offer has left orders unpaid: the best offer of one with a better record, and what it costs. */
export function SaferOffer({
  chain,
  wanted,
  pair: [[shown, left], [safer, kept]],
  children,
}: SaferOfferProps) {
  const { isExactInput = true, inputToken = '', outputToken = '' } = wanted ?? {}
  const [more = 0n, less = 0n] = isExactInput ? [shown.amount, safer.amount] : [safer.amount, shown.amount]
  const token = isExactInput ? outputToken : inputToken
  return (
    <p class={`notice safer-offer ${(left.ended - left.paid) * SEEN > left.ended ? 'notice-warning' : ''}`}>
      <SolverLabel address={shown.solver} /> did not pay {group(`${left.ended - left.paid}`)} of{' '}
      {group(`${left.ended}`)} orders in 24&nbsp;h. <SolverLabel address={safer.solver} />: {paidOf(kept)},
      for <Amount chainId={chain.chainId} address={token} amount={more - less} isShort />{' '}
      {isExactInput ? 'less' : 'more'}. {children}
    </p>
  )
}
