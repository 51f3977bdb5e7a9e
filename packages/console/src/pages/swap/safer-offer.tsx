import type { ComponentChildren } from 'preact'
import { SolverLabel } from '../../components/id.js'
import { Amount } from '../../components/token-amount.js'
import type { SaferPair } from '../../data/solvers/reliability.js'
import { group } from '../../format/amount.js'

interface SaferOfferProps {
  readonly chainId: bigint
  readonly pair: SaferPair
  readonly isOutput: boolean
  /** The token of the side that solvers compete on. */
  readonly token: string
  /** What the user can do now. */
  readonly children?: ComponentChildren
}

/** Where the solver of the shown offer has left orders unpaid: the best offer of one that pays, and what it costs. */
export function SaferOffer({ chainId, pair, isOutput, token, children }: SaferOfferProps) {
  const [[shown, left], [safer, kept]] = pair
  const [amount, other] = [shown.amount ?? 0n, safer.amount ?? 0n]
  const isLess = other < amount
  return (
    <p class="notice notice-warning safer-offer">
      <SolverLabel address={shown.solver} /> did not pay {group(`${left.ended - left.paid}`)} of{' '}
      {group(`${left.ended}`)} orders in 24 h. <SolverLabel address={safer.solver} /> paid{' '}
      {group(`${kept.paid}`)} of {group(`${kept.ended}`)} and {isOutput ? 'gives' : 'takes'}{' '}
      <Amount chainId={chainId} address={token} amount={isLess ? amount - other : other - amount} isShort />{' '}
      {isLess ? 'less' : 'more'}.{children}
    </p>
  )
}
