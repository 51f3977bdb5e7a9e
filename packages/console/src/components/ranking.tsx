import type { Attempt } from '../data/auction/auction.js'
import { useLatestOrders } from '../data/orders/use-latest-orders.js'
import { useReliabilities, usualFillMs } from '../data/solvers/reliability.js'
import { solverName } from '../data/solvers/solvers.js'
import { tokenOf } from '../data/tokens/tokens.js'
import { exactAmount, formatAmount, formatBps } from '../format/amount.js'
import { formatDuration } from '../format/time.js'
import { SolverLabel } from './id.js'
import { formatFill } from './order-rows.js'
import { outcomeTone, outcomeWord } from './outcome.js'
import { Paid } from './paid.js'
import { ScrollBox } from './scroll-box.js'
import { StateMark } from './state-mark.js'
import { Term } from './term.js'
import { TokenName } from './token-amount.js'

interface RankingProps {
  readonly attempts: readonly Attempt[]
  readonly chainId: bigint
  /** The token of the side that solvers compete on. */
  readonly token: string
  /** Shows when the solvers answered, and why they made no valid offer. */
  readonly isRecord?: boolean
  /** Lets the user choose among offers. */
  readonly choice?: OfferChoice | undefined
}

/** Which offer of a ranking the user takes. */
export interface OfferChoice {
  /** The solvers whose offers can be taken. */
  readonly solvers: readonly string[]
  readonly chosen: string | undefined
  readonly onChoose: (solver: string) => void
}

/** The results of a round: offers in the order of their rank, then the solvers without one. */
export function Ranking(props: RankingProps) {
  const { attempts, chainId, token, isRecord, choice } = props
  const reliabilities = useReliabilities(BigInt(chainId))
  const { orders = [] } = useLatestOrders(BigInt(chainId))
  const fillOf = (solver: string) => usualFillMs(orders, solver)
  const decimals = tokenOf(chainId, token)?.decimals
  const hasOffers = attempts.some(({ amount }) => amount !== undefined)
  return (
    <ScrollBox label="Ranking of the solvers">
      <table class="ranking">
        <thead>
          <tr>
            <th class="right">#</th>
            <th>Solver</th>
            {hasOffers && (
              <>
                <th class="right">
                  Amount
                  {token !== '' && (
                    <>
                      , <TokenName chainId={chainId} address={token} isShort />
                    </>
                  )}
                </th>
                <th class="right">
                  <Term name="Against best" />
                </th>
              </>
            )}
            {isRecord && (
              <th class="right">
                <Term name="After" />
              </th>
            )}
            <th class="right">
              <Term name="Paid" />
            </th>
            <th>
              <Term name="Result" />
            </th>
          </tr>
        </thead>
        <tbody>
          {attempts.map((attempt) => (
            <tr
              key={attempt.solver}
              class={(choice?.chosen ?? attempts[0]?.solver) === attempt.solver && attempt.rank ? 'best' : ''}
            >
              <td class="right number rank" data-label="Rank">
                {choice?.solvers.includes(attempt.solver) ? (
                  <label title="Take this offer">
                    <input
                      type="radio"
                      name="offer"
                      aria-label={`Take the offer of ${solverName(attempt.solver) ?? attempt.solver}`}
                      checked={choice.chosen === attempt.solver}
                      onChange={() => choice.onChoose(attempt.solver)}
                    />
                    {attempt.rank}
                  </label>
                ) : (
                  attempt.rank
                )}
              </td>
              <td class="solver-cell" data-label="Solver">
                <SolverLabel address={attempt.solver} />
              </td>
              {hasOffers && <OfferCells attempt={attempt} decimals={decimals} />}
              {isRecord && (
                <td class="right number" data-label="After">
                  {attempt.atMs === undefined ? '' : formatDuration(attempt.atMs)}
                </td>
              )}
              <td class="right number ranking-paid" data-label="Paid">
                <Paid of={reliabilities.get(attempt.solver.toLowerCase())} />
                {fillOf(attempt.solver) !== undefined && (
                  <span class="muted">, usually in {formatFill(fillOf(attempt.solver))}</span>
                )}
              </td>
              <td class={attempt.rank === undefined ? 'wide' : 'ranking-result'} data-label="Result">
                {attempt.isVerified ? (
                  <StateMark word="verified" tone="good" />
                ) : (
                  <StateMark
                    word={`${outcomeWord(attempt.outcome)}${attempt.reason === '' ? '' : `: ${attempt.reason}`}`}
                    tone={outcomeTone(attempt.outcome)}
                  />
                )}
                {isRecord && attempt.rank === undefined && attempt.explanation !== '' && (
                  <p class="explanation">{attempt.explanation}</p>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollBox>
  )
}

interface OfferCellsProps {
  readonly attempt: Attempt
  readonly decimals: number | undefined
}

/** How much an offer is, and how far from the best one; empty without an offer. */
function OfferCells({ attempt, decimals }: OfferCellsProps) {
  const { amount, bps, rank } = attempt
  return (
    <>
      <td
        class="right number ranking-amount"
        data-label="Amount"
        title={amount === undefined ? '' : exactAmount(amount, decimals)}
      >
        {amount === undefined ? '' : formatAmount(amount, decimals)}
      </td>
      <td class="right number ranking-bps" data-label="Against best">
        {bps === undefined ? '' : rank === 1 ? <span class="accent">best</span> : <Bps bps={bps} />}
      </td>
    </>
  )
}

/** A signed difference. Green is a gain. Another offer that is a little lower is no loss. */
export function Bps({ bps }: { readonly bps: number }) {
  return <span class={bps > 0 ? 'positive' : 'muted'}>{formatBps(bps)}</span>
}
