import type { Chain } from '../../../../../gen/aggregator/v1/chain_pb.js'
import { SolverLabel } from '../../components/id.js'
import { Paid } from '../../components/paid.js'
import { Amount } from '../../components/token-amount.js'
import type { Attempt, Round } from '../../data/auction/auction.js'
import { type Reliabilities, saferAttempt } from '../../data/solvers/reliability.js'
import { solverName } from '../../data/solvers/solvers.js'
import { shorten } from '../../format/shorten.js'

interface SaferOfferProps {
  readonly chain: Chain
  readonly round: Round | undefined
  readonly reliabilities: Reliabilities
  /** The token of the side that solvers compete on. */
  readonly token: string
  /** The solver of the offer that the form shows. */
  readonly solver: string | undefined
  /** Takes another offer into the form; undefined while none can be chosen. */
  readonly onChoose: ((solver: string) => void) | undefined
}

/** Where the solver of the best offer has left orders unpaid: the next offer of one that pays, and what it costs. */
export function SaferOffer({ chain, round, reliabilities, token, solver, onChoose }: SaferOfferProps) {
  const [best] = round?.attempts ?? []
  const safer = round && saferAttempt(round.attempts, reliabilities)
  if (round === undefined || best === undefined || safer === undefined || solver === safer.solver) return null
  const paid = ({ solver }: Attempt) => <Paid of={reliabilities.get(solver.toLowerCase())} />
  const difference = (best.amount ?? 0n) - (safer.amount ?? 0n)
  return (
    <div class="notice safer-offer">
      <p>
        Best price: <SolverLabel address={best.solver} />, {paid(best)} in 24 h.{' '}
        <SolverLabel address={safer.solver} />: {paid(safer)},{' '}
        <Amount
          chainId={chain.chainId}
          address={token}
          amount={difference < 0n ? -difference : difference}
          isShort
        />{' '}
        {round.isOutput ? 'less' : 'more'}.
      </p>
      {onChoose && (
        <button type="button" onClick={() => onChoose(safer.solver)}>
          Take <bdi>{solverName(safer.solver) ?? shorten(safer.solver)}</bdi>'s offer
        </button>
      )}
    </div>
  )
}
