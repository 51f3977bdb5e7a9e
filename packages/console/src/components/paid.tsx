import { hrefHere } from '../data/chains.js'
import { isRisky, type Reliability, useReliabilities } from '../data/solvers/reliability.js'
import { group } from '../format/amount.js'
import { SolverLabel } from './id.js'

interface PaidProps {
  readonly of: Pick<Reliability, 'paid' | 'ended'> | undefined
  /** Whose orders they are; all solvers' when left out. */
  readonly solver?: string
  /** Of which pair they are; of all when left out. */
  readonly pair?: string
}

/** How many of the orders that have ended were paid. It leads to the others. */
export function Paid({ of, solver, pair }: PaidProps) {
  if (of === undefined || of.ended === 0n) return <span class="muted">no order yet</span>
  const { paid, ended } = of
  const words = `${group(`${paid}`)} of ${group(`${ended}`)} paid`
  if (paid === ended) return <span class="paid">{words}</span>
  return (
    <a class="paid warning" href={hrefHere('orders', '', { solver, pair, state: 'refunded' })}>
      {isRisky(of) && <span aria-hidden="true">⚠ </span>}
      {words}
    </a>
  )
}

/** A solver with how many of its orders of a day it has paid. */
export const SolverRecord = ({ chainId, solver }: { readonly chainId: bigint; readonly solver: string }) => (
  <>
    <SolverLabel address={solver} />,{' '}
    <Paid of={useReliabilities(chainId).get(solver.toLowerCase())} solver={solver} />
  </>
)
