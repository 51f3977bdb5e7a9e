import { isRisky, type Reliability } from '../data/solvers/reliability.js'
import { group } from '../format/amount.js'

/** How many of the orders that have ended a solver has paid. */
export function Paid({ of }: { readonly of: Pick<Reliability, 'paid' | 'ended'> | undefined }) {
  if (of === undefined || of.ended === 0n) return <span class="muted">no order yet</span>
  return (
    <span class={isRisky(of) ? 'warning' : ''}>
      {isRisky(of) && <span aria-hidden="true">⚠ </span>}
      {group(`${of.paid}`)} of {group(`${of.ended}`)} paid
    </span>
  )
}
