import { SolverOutcome } from '../../../../../gen/aggregator/v1/quote_pb.js'
import type { Attempt } from '../../data/auction/auction.js'
import { solverName } from '../../data/solvers/solvers.js'
import { formatBps, group } from '../../format/amount.js'
import { createAmountAxis } from '../../format/amount-axis.js'
import { shorten } from '../../format/shorten.js'
import { formatDuration } from '../../format/time.js'
import { createTimeAxis } from '../../format/time-axis.js'
import { outcomeWord } from '../outcome.js'
import { useWidth } from './use-width.js'

const HEIGHT = 196
/** Room for the differences in basis points. */
const LEFT = 64
const MARGIN = 12
const TOP = 18
/** An offer far off stands here, with its number. */
const EDGE = 138
/** Results without an offer stand below the offers. */
const LANE = 158
const BASE = 168
const LABELS = 190

interface AuctionChartProps {
  readonly attempts: readonly Attempt[]
  readonly deadlineMs: number
}

/**
 * The auction on a time axis from 0 to a little after the last answer. Each offer is a mark whose height is its amount, on an axis with the distance
 * from the best one. An offer far off stands at the lower edge with its number. The line is the best offer so far. Other results
 * are marks below.
 */
export function AuctionChart({ attempts, deadlineMs }: AuctionChartProps) {
  const timed = attempts.filter(({ atMs }) => atMs !== undefined)
  const [ref, width] = useWidth<SVGSVGElement>()
  const right = width - MARGIN
  const last = Math.max(
    ...timed.filter(({ outcome }) => outcome !== SolverOutcome.LATE).map(({ atMs = 0 }) => atMs),
    0,
  )
  // Before an auction, the axis is whole.
  const axis = createTimeAxis(timed.length === 0 ? deadlineMs : last, deadlineMs)
  const x = (ms: number) => LEFT + axis.place(ms) * (right - LEFT)
  const offers = timed.filter(({ bps }) => bps !== undefined)
  const others = timed.filter(({ bps }) => bps === undefined)
  const amounts = createAmountAxis(offers.map(({ bps = 0 }) => bps))
  const isCrowded = others.length > 0 || offers.some(({ bps = 0 }) => amounts.place(bps) === undefined)
  const bottom = isCrowded ? EDGE - 20 : LANE - 6
  const heightOf = (bps: number) => {
    const place = amounts.place(bps)
    return place === undefined ? EDGE : TOP + place * (bottom - TOP)
  }
  const y = ({ bps = 0 }: Attempt) => heightOf(bps)
  return (
    <svg
      class="auction-chart"
      ref={ref}
      viewBox={`0 0 ${width} ${HEIGHT}`}
      height={HEIGHT}
      role="img"
      aria-label={describe(attempts, deadlineMs)}
    >
      {amounts.ticks.map((bps) => (
        <g key={bps} class="chart-amounts">
          <line x1={LEFT} x2={right} y1={heightOf(bps)} y2={heightOf(bps)} />
          <text x={LEFT - 8} y={heightOf(bps) + 4}>
            {bps === 0 ? 'best' : formatStep(bps)}
          </text>
        </g>
      ))}
      <g class="chart-axis">
        {axis.ticks.map((ms) => (
          <g key={ms}>
            <line x1={x(ms)} x2={x(ms)} y1={TOP - 8} y2={BASE} />
            <text x={x(ms)} y={LABELS}>
              {`${group(String(ms))} ms`}
            </text>
          </g>
        ))}
        <line class="chart-base" x1={LEFT} x2={right} y1={BASE} y2={BASE} />
      </g>
      <polyline class="chart-best" points={bestLine(offers, x, y, right)} />
      {others.map((attempt) => (
        <g key={attempt.solver} class="chart-other">
          <title>{titleOf(attempt)}</title>
          <path d={cross(attempt.outcome === SolverOutcome.LATE ? right : x(attempt.atMs ?? 0), LANE)} />
        </g>
      ))}
      {offers.toReversed().map((attempt) => (
        <g key={attempt.solver} class={attempt.rank === 1 ? 'chart-mark chart-mark-best' : 'chart-mark'}>
          <title>{titleOf(attempt)}</title>
          <circle cx={x(attempt.atMs ?? 0)} cy={y(attempt)} r={attempt.rank === 1 ? 9 : 8} />
          <text x={x(attempt.atMs ?? 0)} y={y(attempt) + 4}>
            {attempt.rank}
          </text>
          {amounts.place(attempt.bps ?? 0) === undefined && (
            <text class="chart-far" x={x(attempt.atMs ?? 0) + 14} y={EDGE + 4}>
              {formatBps(attempt.bps ?? 0)} ↓
            </text>
          )}
        </g>
      ))}
    </svg>
  )
}

/** A round difference of the axis: `−10 bp`, `−0.5 bp`. */
const formatStep = (bps: number) => `\u2212${Number((-bps).toPrecision(3))} bp`

/** Steps up with each offer that beat all before it. */
function bestLine(
  offers: readonly Attempt[],
  x: (ms: number) => number,
  y: (attempt: Attempt) => number,
  end: number,
): string {
  const points: string[] = []
  let best: Attempt | undefined
  for (const offer of offers.toSorted((a, b) => (a.atMs ?? 0) - (b.atMs ?? 0))) {
    if (best !== undefined && (offer.bps ?? 0) <= (best.bps ?? 0)) continue
    const at = x(offer.atMs ?? 0)
    if (best !== undefined) points.push(`${at},${y(best)}`)
    points.push(`${at},${y(offer)}`)
    best = offer
  }
  if (best !== undefined) points.push(`${end},${y(best)}`)
  return points.join(' ')
}

const cross = (x: number, y: number) => `M${x - 4} ${y - 4}l8 8m0 -8l-8 8`

function titleOf({ solver, atMs, bps, rank, outcome }: Attempt): string {
  const result = bps === undefined ? outcomeWord(outcome) : rank === 1 ? 'best offer' : formatBps(bps)
  return `${solverName(solver) ?? ''} ${shorten(solver)}: ${result}${atMs === undefined ? '' : ` after ${formatDuration(atMs)}`}`
}

function describe(attempts: readonly Attempt[], deadlineMs: number): string {
  const marks = attempts.map((attempt) => titleOf(attempt))
  return `Auction with a deadline of ${formatDuration(deadlineMs)}. ${marks.join('. ') || 'No answers yet'}.`
}
