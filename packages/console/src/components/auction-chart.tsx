import { SolverOutcome } from '../../../../gen/aggregator/v1/quote_pb.js'
import type { Attempt } from '../data/auction.js'
import { solverName } from '../data/solvers.js'
import { formatBps } from '../format/amount.js'
import { shorten } from '../format/shorten.js'
import { formatDuration } from '../format/time.js'
import { createTimeAxis, type TimeAxis } from '../format/time-axis.js'
import { outcomeWord } from './outcome.js'
import { useWidth } from './use-width.js'

const HEIGHT = 168
const LEFT = 12
const MARGIN = 12
const TOP = 20
const BOTTOM = 112
/** Results without an offer stand below the offers. */
const LANE = 134
const LABELS = 160

interface AuctionChartProps {
  readonly attempts: readonly Attempt[]
  readonly deadlineMs: number
  /** How long the round has run; undefined when it has ended. */
  readonly elapsedMs?: number | undefined
}

/**
 * The auction on a time axis from 0 to the deadline. Each offer is a mark, the better the higher. The line is the best offer so
 * far. Other results are marks below.
 */
export function AuctionChart({ attempts, deadlineMs, elapsedMs }: AuctionChartProps) {
  const timed = attempts.filter(({ atMs }) => atMs !== undefined)
  const [ref, width] = useWidth<SVGSVGElement>()
  const right = width - MARGIN
  const last = Math.max(
    ...timed.filter(({ outcome }) => outcome !== SolverOutcome.LATE).map(({ atMs = 0 }) => atMs),
    elapsedMs ?? 0,
  )
  // Before an auction, the axis is whole.
  const isEmpty = timed.length === 0 && elapsedMs === undefined
  const axis = createTimeAxis(isEmpty ? deadlineMs : last, deadlineMs)
  const x = (ms: number) => LEFT + axis.place(ms) * (right - LEFT)
  const offers = timed.filter(({ bps }) => bps !== undefined)
  const others = timed.filter(({ bps }) => bps === undefined)
  const y = heightOf(offers)
  return (
    <svg
      class="auction-chart"
      ref={ref}
      viewBox={`0 0 ${width} ${HEIGHT}`}
      height={HEIGHT}
      role="img"
      aria-label={describe(attempts, deadlineMs)}
    >
      <Axis axis={axis} deadlineMs={deadlineMs} x={x} right={right} />
      {elapsedMs !== undefined && (
        <line class="chart-now" x1={x(elapsedMs)} x2={x(elapsedMs)} y1={TOP - 8} y2={BOTTOM + 8} />
      )}
      <polyline
        class="chart-best"
        points={bestLine(offers, x, y, elapsedMs === undefined ? right : x(elapsedMs))}
      />
      {others.map((attempt) => (
        <g key={attempt.solver} class="chart-other">
          <title>{titleOf(attempt)}</title>
          <path
            d={cross(x(attempt.outcome === SolverOutcome.LATE ? deadlineMs : (attempt.atMs ?? 0)), LANE)}
          />
        </g>
      ))}
      {offers.toReversed().map((attempt) => (
        <g key={attempt.solver} class={attempt.rank === 1 ? 'chart-mark chart-mark-best' : 'chart-mark'}>
          <title>{titleOf(attempt)}</title>
          <circle cx={x(attempt.atMs ?? 0)} cy={y(attempt)} r={attempt.rank === 1 ? 9 : 8} />
          <text x={x(attempt.atMs ?? 0)} y={y(attempt) + 4}>
            {attempt.rank}
          </text>
        </g>
      ))}
    </svg>
  )
}

interface AxisProps {
  readonly axis: TimeAxis
  readonly deadlineMs: number
  readonly x: (ms: number) => number
  readonly right: number
}

function Axis({ axis, deadlineMs, x, right }: AxisProps) {
  const words = `deadline ${formatDuration(deadlineMs)}`
  // Labels have letters of seven pixels: those that would touch that of the deadline are left out.
  const room = right - words.length * 7.3 - 24
  const broken = (x(axis.lastMs) + right) / 2
  return (
    <g class="chart-axis">
      {axis.ticks.map((ms) => (
        <g key={ms}>
          <line x1={x(ms)} x2={x(ms)} y1={TOP - 8} y2={LANE + 10} />
          {x(ms) < room && (
            <text class={ms === 0 ? 'chart-first' : ''} x={x(ms)} y={LABELS}>
              {ms === 0 ? '0 ms' : ms}
            </text>
          )}
        </g>
      ))}
      <line class="chart-base" x1={LEFT} x2={right} y1={LANE + 10} y2={LANE + 10} />
      <line class="chart-deadline" x1={right} x2={right} y1={TOP - 8} y2={LANE + 10} />
      <text class="chart-last" x={right} y={LABELS}>
        {words}
      </text>
      {axis.isBroken && (
        <>
          <path class="chart-gap" d={`M${broken - 5} ${LANE + 16}l5 -12h5l-5 12z`} />
          <path class="chart-break" d={`M${broken - 5} ${LANE + 16}l5 -12m5 0l-5 12`} />
        </>
      )}
    </g>
  )
}

/** Differences are small among the best and may be huge for the worst: the height follows their logarithm. */
function heightOf(offers: readonly Attempt[]): (attempt: Attempt) => number {
  const worst = Math.max(...offers.map(({ bps = 0 }) => Math.log1p(Math.max(0, -bps))), 0)
  return ({ bps = 0 }) =>
    worst === 0 ? TOP + 10 : TOP + 10 + (Math.log1p(Math.max(0, -bps)) / worst) * (BOTTOM - TOP - 20)
}

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
