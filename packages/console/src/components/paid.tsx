import { hrefHere } from '../data/chains.js'
import { isRisky, type PaidOrders, reliabilityOf, useReliabilities } from '../data/solvers/reliability.js'
import { group } from '../format/amount.js'
import { SolverLabel } from './id.js'

interface PaidProps {
  /** Undefined before it is read. */
  readonly of: PaidOrders | undefined
  /** Whose orders they are; all solvers' when left out. */
  readonly solver?: string
  /** Whether they are those of 24 hours, which nothing else says. */
  readonly isDay?: boolean
}

/** How many of the orders that have ended were paid. It leads to the others. */
export function Paid({ of, solver, isDay }: PaidProps) {
  if (of === undefined) return <span class="muted">…</span>
  const { paid, ended } = of
  const words = `${ended === 0n ? 'no order yet' : paidOf(of)}${isDay ? ' in 24 h' : ''}`
  if (paid === ended) return <span class="paid">{words}</span>
  return (
    <a
      class={isRisky(of) ? 'paid warning' : 'paid'}
      href={hrefHere('orders', '', { solver, state: 'refunded' })}
    >
      {words}
    </a>
  )
}

/** How many orders were paid, in words. */
export const paidOf = ({ paid, ended }: PaidOrders) => `${group(`${paid}`)} of ${group(`${ended}`)} paid`

/** A solver with how many of its orders of a day it has paid. */
export const SolverRecord = ({ chainId, solver }: { readonly chainId: bigint; readonly solver: string }) => (
  <>
    <SolverLabel address={solver} />,{' '}
    <Paid of={reliabilityOf(useReliabilities(chainId), solver)} solver={solver} isDay />
  </>
)
