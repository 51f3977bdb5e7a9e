import type { Chain } from '../../../../../gen/aggregator/v1/chain_pb.js'
import { SolverLabel } from '../../components/id.js'
import { Paid } from '../../components/paid.js'
import { Amount } from '../../components/token-amount.js'
import type { Attempt, Round } from '../../data/auction/auction.js'
import { saferAttempt, useReliabilities } from '../../data/solvers/reliability.js'
import { solverName } from '../../data/solvers/solvers.js'
import { shorten } from '../../format/shorten.js'

interface SaferOfferProps {
  readonly chain: Chain
  readonly round: Round | undefined
  /** The token of the side that solvers compete on. */
  readonly token: string
  /** The solver of the offer that the form shows. */
  readonly solver: string | undefined
  /** Takes another offer into the form; undefined while none can be chosen. */
  readonly onChoose: ((solver: string) => void) | undefined
}

/** Where the solver of the best offer has left orders unpaid: the next offer of one that pays, and what it costs. */
export function SaferOffer({ chain, round, token, solver, onChoose }: SaferOfferProps) {
  const { chainId } = chain
  const reliabilities = useReliabilities(chainId)
  const [best, next] = round?.attempts ?? []
  const safer = round && saferAttempt(round.attempts, reliabilities)
  if (best === undefined || safer === undefined || solver === safer.solver) return null
  const of = ({ solver }: Attempt) => reliabilities.get(solver.toLowerCase())
  const [more, less] = [best.amount ?? 0n, safer.amount ?? 0n].toSorted((a, b) => (a < b ? 1 : -1))
  return (
    <div class="notice notice-warning safer-offer">
      <p>
        Best price: <SolverLabel address={best.solver} />, <Paid of={of(best)} /> in 24 h.{' '}
        {next !== undefined && next !== safer && (
          <>
            Next: <SolverLabel address={next.solver} />, <Paid of={of(next)} />.{' '}
          </>
        )}
        <SolverLabel address={safer.solver} /> has paid {`${of(safer)?.paid} of ${of(safer)?.ended}`}, for{' '}
        <Amount chainId={chainId} address={token} amount={(more ?? 0n) - (less ?? 0n)} isShort />{' '}
        {round?.isOutput ? 'less' : 'more'}.
      </p>
      {onChoose && (
        <button type="button" onClick={() => onChoose(safer.solver)}>
          Take <bdi>{solverName(safer.solver) ?? shorten(safer.solver)}</bdi>'s offer
        </button>
      )}
    </div>
  )
}
