import type { Chain } from '../../../../../gen/aggregator/v1/chain_pb.js'
import { SolverLabel } from '../../components/id.js'
import { Amount } from '../../components/token-amount.js'
import type { Round } from '../../data/auction/auction.js'
import { saferAttempt, useReliabilities } from '../../data/solvers/reliability.js'
import { solverName } from '../../data/solvers/solvers.js'
import { group } from '../../format/amount.js'
import { shorten } from '../../format/shorten.js'

interface SaferOfferProps {
  readonly chain: Chain
  readonly round: Pick<Round, 'attempts' | 'isOutput'> | undefined
  /** The token of the side that solvers compete on. */
  readonly token: string
  /** The solver of the offer that the form shows. */
  readonly solver: string | undefined
  /** Takes another offer into the form; undefined when none can be chosen. */
  readonly onChoose?: ((solver: string) => void) | undefined
}

/** Where the solver of the shown offer has left orders unpaid: the best offer of one that pays, and what it costs. */
export function SaferOffer({ chain, round, token, solver, onChoose }: SaferOfferProps) {
  const known = useReliabilities(chain.chainId)
  const found = saferAttempt(round?.attempts ?? [], known, solver)
  if (round === undefined || found === undefined) return null
  const [[shown, left], [safer, kept]] = found
  const [amount, other] = [shown.amount ?? 0n, safer.amount ?? 0n]
  const isLess = other < amount
  return (
    <div class="notice notice-warning safer-offer">
      <p>
        <SolverLabel address={shown.solver} /> did not pay {group(`${left.ended - left.paid}`)} of{' '}
        {group(`${left.ended}`)} orders in 24 h. <SolverLabel address={safer.solver} /> paid{' '}
        {group(`${kept.paid}`)} of {group(`${kept.ended}`)} and {round.isOutput ? 'gives' : 'takes'}{' '}
        <Amount
          chainId={chain.chainId}
          address={token}
          amount={isLess ? amount - other : other - amount}
          isShort
        />{' '}
        {isLess ? 'less' : 'more'}.
      </p>
      {onChoose && (
        <button type="button" onClick={() => onChoose(safer.solver)}>
          Take <bdi>{solverName(safer.solver) ?? shorten(safer.solver)}</bdi>'s offer
        </button>
      )}
    </div>
  )
}
