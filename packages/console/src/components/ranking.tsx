import type { Attempt } from '../data/auction/auction.js'
import { reliabilityOf, useReliabilities } from '../data/solvers/reliability.js'
import { solverName } from '../data/solvers/solvers.js'
import { formatBps } from '../format/amount.js'
import { formatDuration } from '../format/time.js'
import { SolverLabel } from './id.js'
import { formatFill } from './order-rows.js'
import { OUTCOMES } from './outcome.js'
import { Paid } from './paid.js'
import { Rows } from './rows.js'
import { StateMark } from './state-mark.js'
import { Term } from './term.js'
import { Amount, TokenName } from './token-amount.js'

interface RankingProps {
  readonly attempts: readonly Attempt[]
  readonly chainId: bigint
  /** The token of the side that solvers compete on. */
  readonly token: string
  /** Lets the user choose among offers. */
  readonly choice?: OfferChoice | undefined
  /** Whose offer was taken; the best one when left out. */
  readonly taken?: string | undefined
  /** Whether the round is over: then each has the time of its answer. */
  readonly isRecord?: boolean
  /** Whether offers can still be taken: then what solvers have paid counts. */
  readonly isOpen?: boolean
}

/** Which offer of a ranking the user takes. */
interface OfferChoice {
  /** The solvers whose offers can be taken. */
  readonly solvers: readonly string[]
  readonly chosen: string | undefined
  readonly onChoose: (solver: string) => void
}

/** The results of a round: offers in the order of their rank, then the solvers without one. */
export function Ranking(props: RankingProps) {
  const { attempts, chainId, token, choice, taken, isRecord = false, isOpen = true } = props
  const reliabilities = useReliabilities(chainId)
  const chosen = choice === undefined ? (taken ?? attempts[0]?.solver) : choice.chosen
  const hasOffers = attempts.some(({ amount }) => amount !== undefined)
  return (
    <Rows
      caption="Ranking of the solvers"
      kind="ranking"
      head={
        <>
          <th class="right">#</th>
          <th>Solver</th>
          {hasOffers && (
            <>
              <th class="right">
                Amount{token !== '' && ', '}
                {token !== '' && <TokenName chainId={chainId} address={token} isShort />}
              </th>
              <th class="right">
                <Term name="Against best" />
              </th>
            </>
          )}
          {isRecord && <th class="right">Ended</th>}
          {isOpen && (
            <th class="right">
              <Term name="Paid" />
            </th>
          )}
          <th>
            <Term name="Result" />
          </th>
        </>
      }
    >
      {attempts.map((attempt) => {
        const { solver, rank, atMs, amount, bps, explanation } = attempt
        const reliability = reliabilityOf(reliabilities, solver)
        return (
          <tr key={solver} class={chosen === solver && rank ? 'best' : ''}>
            <td class="right number rank">
              {choice?.solvers.includes(solver) ? (
                <label title="Take this offer">
                  <input
                    type="radio"
                    name="offer"
                    aria-label={`Take the offer of ${solverName(solver) ?? solver}`}
                    checked={choice.chosen === solver}
                    onChange={() => choice.onChoose(solver)}
                  />
                  {rank}
                </label>
              ) : (
                rank
              )}
            </td>
            <td class="solver-cell">
              <SolverLabel address={solver} />
            </td>
            {hasOffers && (
              <>
                <td class="right ranking-amount">
                  {amount !== undefined && (
                    <Amount chainId={chainId} address={token} amount={amount} bare isShort />
                  )}
                </td>
                <td class="right number ranking-bps">
                  {rank === 1 ? <span class="accent">best</span> : bps !== undefined && formatBps(bps)}
                </td>
              </>
            )}
            {isRecord && (
              <td class="right number ranking-at">{atMs !== undefined && `after ${formatDuration(atMs)}`}</td>
            )}
            {isOpen && (
              <td class="right number ranking-paid">
                <Paid of={reliability} solver={solver} isDay />
                {reliability?.fillMs !== undefined && (
                  <span class="of">usually in {formatFill(reliability.fillMs)}</span>
                )}
              </td>
            )}
            <td class={rank === undefined ? 'wide' : 'ranking-result'}>
              <Result {...attempt} />
              {choice === undefined && rank === undefined && (
                // The sentences after the first tell the solver's developer what to do.
                <p class="explanation">{explanation.match(/.+?\.( |$)/)?.[0]}</p>
              )}
            </td>
          </tr>
        )
      })}
    </Rows>
  )
}

/** How the request of a solver ended, and why. */
function Result({ isVerified, rank, outcome, reason }: Attempt) {
  if (isVerified) return <StateMark word="checked by the contract" tone="good" />
  if (rank) return <StateMark word="not checked" tone="neutral" />
  const word = OUTCOMES[outcome] ?? 'other'
  return <StateMark word={reason === '' ? word : `${word}: ${reason}`} tone="none" />
}
