import { SolverOutcome } from '../../../../gen/aggregator/v1/quote_pb.js'
import type { Attempt } from '../data/auction/auction.js'
import { tokenOf } from '../data/tokens/tokens.js'
import { exactAmount, formatAmount, formatBps } from '../format/amount.js'
import { formatDuration } from '../format/time.js'
import { createTimeAxis } from '../format/time-axis.js'
import { SolverLabel } from './id.js'
import { outcomeTone, outcomeWord } from './outcome.js'
import { ScrollBox } from './scroll-box.js'
import { StateMark } from './state-mark.js'
import { TokenName } from './token-amount.js'

interface RankingProps {
  readonly attempts: readonly Attempt[]
  readonly chainId: bigint
  /** The token of the side that solvers compete on. */
  readonly token: string
  /** Draws the arrival of each result as a bar against this deadline; none when left out. */
  readonly deadlineMs?: number
  /** Shows in words why a solver has no valid offer. */
  readonly isExplained?: boolean
}

const BAR = 180
const BAR_HEIGHT = 14

/** The results of a round: offers in the order of their rank, then the solvers without one. */
export function Ranking({ attempts, chainId, token, deadlineMs, isExplained }: RankingProps) {
  const decimals = tokenOf(chainId, token)?.decimals
  const fraction = commonFraction(attempts, decimals)
  const hasOffers = attempts.some(({ amount }) => amount !== undefined)
  const answered = attempts.filter(({ outcome }) => outcome !== SolverOutcome.LATE)
  const axis =
    deadlineMs === undefined
      ? undefined
      : createTimeAxis(Math.max(...answered.map(({ atMs = 0 }) => atMs), 0), deadlineMs)
  return (
    <ScrollBox label="Ranking of the solvers" isCards>
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
                <th class="right">Against best</th>
              </>
            )}
            <th class="right">After</th>
            {axis !== undefined && <th>Arrival, deadline {formatDuration(deadlineMs ?? 0)}</th>}
            <th>Result</th>
          </tr>
        </thead>
        <tbody>
          {attempts.map((attempt) => (
            <tr key={attempt.solver} class={attempt.rank === 1 ? 'best' : ''}>
              <td class="right number rank" data-label="Rank">
                {attempt.rank ?? ''}
              </td>
              <td class="solver-cell" data-label="Solver">
                <SolverLabel address={attempt.solver} />
              </td>
              {hasOffers && <OfferCells attempt={attempt} decimals={decimals} fraction={fraction} />}
              <td class="right number" data-label="After">
                {attempt.atMs === undefined ? '' : formatDuration(attempt.atMs)}
              </td>
              {axis !== undefined && (
                <td class="ranking-arrival">
                  <ArrivalBar place={axis.place(attempt.atMs ?? 0)} attempt={attempt} />
                </td>
              )}
              <td class={attempt.rank === undefined ? 'wide' : 'ranking-result'} data-label="Result">
                {attempt.isVerified ? (
                  <StateMark word="verified" tone="good" title="The settlement contract accepts this offer" />
                ) : (
                  <StateMark
                    word={`${outcomeWord(attempt.outcome)}${attempt.reason === '' ? '' : `: ${attempt.reason}`}`}
                    tone={outcomeTone(attempt.outcome)}
                  />
                )}
                {isExplained && attempt.rank === undefined && attempt.explanation !== '' && (
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

/** As many digits after the point as the amount that needs most, so that the points stand below each other. */
function commonFraction(attempts: readonly Attempt[], decimals: number | undefined): number | undefined {
  const shown = attempts.flatMap(({ amount }) =>
    amount === undefined ? [] : [formatAmount(amount, decimals)],
  )
  if (decimals === undefined || shown.some((text) => /[×<]/.test(text))) return undefined
  return Math.max(0, ...shown.map((text) => text.split('.')[1]?.length ?? 0))
}

interface OfferCellsProps {
  readonly attempt: Attempt
  readonly decimals: number | undefined
  /** Digits after the point that all amounts have. */
  readonly fraction: number | undefined
}

/** How much an offer is, and how far from the best one; empty without an offer. */
function OfferCells({ attempt, decimals, fraction }: OfferCellsProps) {
  const { amount, bps, rank } = attempt
  return (
    <>
      <td
        class="right number ranking-amount"
        data-label="Amount"
        title={amount === undefined ? '' : exactAmount(amount, decimals)}
      >
        {amount === undefined
          ? ''
          : formatAmount(amount, decimals, fraction === undefined ? {} : { fraction })}
      </td>
      <td class="right number" data-label="Against best">
        {bps === undefined ? '' : rank === 1 ? <span class="accent">best</span> : <Bps bps={bps} />}
      </td>
    </>
  )
}

/** A signed difference. Green is a gain, red a loss. */
export function Bps({ bps }: { readonly bps: number }) {
  return <span class={bps < 0 ? 'negative' : bps > 0 ? 'positive' : 'muted'}>{formatBps(bps)}</span>
}

function ArrivalBar({ place, attempt }: { readonly place: number; readonly attempt: Attempt }) {
  if (attempt.atMs === undefined) return null
  const kind = attempt.rank === 1 ? 'bar-best' : attempt.amount === undefined ? 'bar-other' : 'bar-offer'
  return (
    <svg
      class="arrival"
      viewBox={`0 0 ${BAR} ${BAR_HEIGHT}`}
      width={BAR}
      height={BAR_HEIGHT}
      aria-hidden="true"
    >
      <line x1={0} x2={BAR - 1} y1={BAR_HEIGHT / 2} y2={BAR_HEIGHT / 2} />
      <line x1={BAR - 1} x2={BAR - 1} y1={0} y2={BAR_HEIGHT} />
      <rect class={kind} x={0} y={3} width={Math.max(2, place * (BAR - 2))} height={BAR_HEIGHT - 6} rx={2} />
    </svg>
  )
}
