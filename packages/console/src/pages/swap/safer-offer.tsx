import type { ComponentChildren } from 'preact'
import { SolverLabel } from '../../components/id.js'
import type { SaferPair } from '../../data/solvers/reliability.js'
import { formatBps, group } from '../../format/amount.js'

interface SaferOfferProps {
  readonly pair: SaferPair
  /** What the user can do now. */
  readonly children?: ComponentChildren
}

/** Where the solver of the shown offer has left orders unpaid: the best offer of one that pays, and what it costs. */
export function SaferOffer({ pair: [[shown, left], [safer, kept]], children }: SaferOfferProps) {
  return (
    <p class="notice notice-warning safer-offer">
      <SolverLabel address={shown.solver} /> did not pay {group(`${left.ended - left.paid}`)} of{' '}
      {group(`${left.ended}`)} orders in 24 h. <SolverLabel address={safer.solver} /> paid{' '}
      {group(`${kept.paid}`)} of {group(`${kept.ended}`)}, at {formatBps((safer.bps ?? 0) - (shown.bps ?? 0))}
      .{children}
    </p>
  )
}
