import { hrefHere } from '../data/chains.js'
import { isRisky, type Reliability } from '../data/solvers/reliability.js'
import { formatShare, group } from '../format/amount.js'

/** From this share on, a user should see that orders were left unpaid. */
const SEEN = 0.01

interface PaidProps {
  readonly of: Pick<Reliability, 'paid' | 'ended'> | undefined
  /** Whose orders they are; all solvers' when left out. */
  readonly solver?: string
}

/** How many of the orders that have ended were paid, with the share and the list of the others. */
export function Paid({ of, solver }: PaidProps) {
  if (of === undefined || of.ended === 0n) return <span class="muted">no order yet</span>
  const unpaid = 1 - Number(of.paid) / Number(of.ended)
  return (
    <>
      <span class={isRisky(of) ? 'warning' : ''}>
        {isRisky(of) && <span aria-hidden="true">⚠ </span>}
        {group(`${of.paid}`)} of {group(`${of.ended}`)} paid
      </span>
      {unpaid > 0 && (
        <a
          class={unpaid < SEEN ? 'of' : 'of warning'}
          href={hrefHere('orders', '', { solver, state: 'refunded' })}
        >
          {formatShare(unpaid)} not paid
        </a>
      )}
    </>
  )
}
