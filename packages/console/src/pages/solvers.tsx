import type { Chain } from '../../../../gen/aggregator/v1/chain_pb.js'
import type { SolverStats } from '../../../../gen/aggregator/v1/solver_stats_pb.js'
import { ShareBar } from '../components/charts/share-bar.js'
import { Sparkline } from '../components/charts/sparkline.js'
import { SolverLabel } from '../components/id.js'
import { Answer, Empty } from '../components/notice.js'
import { LinkRow, Rows } from '../components/rows.js'
import { SolverState } from '../components/solver-state.js'
import { WindowChoice } from '../components/window-choice.js'
import { hrefHere } from '../data/chains.js'
import { now } from '../data/clock.js'
import { route } from '../data/route.js'
import {
  answeredShare,
  hourly,
  type StatsWindow,
  useSolverHours,
  useSolverStats,
  WINDOWS,
  winShare,
} from '../data/solvers/stats.js'
import { exactAmount, formatAmount, formatShare, group } from '../format/amount.js'
import { formatDuration } from '../format/time.js'

/** Each sparkline is one call: no more than these, because the instance limits calls. */
const MOST_SPARKLINES = 20
/** A line has one value for each hour. */
const SPARKLINE_REFRESH_MS = 900_000

/** All solvers and how they compete. */
export function SolversPage({ chain }: { readonly chain: Chain }) {
  const wanted = route.value.query.get('window')
  const window = WINDOWS.find((each) => each === wanted) ?? '24h'
  const stats = useSolverStats(chain.chainId, window)
  return (
    <>
      <div class="page-head">
        <h1>Solvers</h1>
        <WindowChoice page="solvers" window={window} />
      </div>
      <Answer query={stats} lines={6}>
        {({ solvers }) =>
          solvers.length === 0 ? (
            <NoSolvers />
          ) : (
            <>
              <div class="solvers">
                <StatsRows chain={chain} window={window} solvers={solvers} />
              </div>
              <p class="muted footnote">
                Solvers with the most filled orders come first, because each fill costs gas. The other counts
                are cheaper to fake.
              </p>
            </>
          )
        }
      </Answer>
    </>
  )
}

const NoSolvers = () => (
  <Empty title="No solvers yet.">
    A solver registers an endpoint, or opens a session. See <a href="docs">the reference of the API</a>.
  </Empty>
)

interface StatsRowsProps {
  readonly chain: Chain
  readonly window: StatsWindow
  readonly solvers: readonly SolverStats[]
}

function StatsRows({ chain, window, solvers }: StatsRowsProps) {
  return (
    <Rows
      caption="Solvers"
      head={
        <>
          <th>Solver</th>
          <th class="right">Asked</th>
          <th class="right">Won</th>
          <th class="right">In time</th>
          <th class="right">Median</th>
          <th class="right">p95</th>
          <th>Median by hour</th>
          <th class="right">Filled</th>
          <th class="right">Free bond</th>
          <th>State</th>
        </>
      }
    >
      {solvers.map((solver, index) => (
        <StatsRow
          key={solver.solver}
          chain={chain}
          window={window}
          stats={solver}
          hasSparkline={index < MOST_SPARKLINES}
        />
      ))}
    </Rows>
  )
}

interface StatsRowProps {
  readonly chain: Chain
  readonly window: StatsWindow
  readonly stats: SolverStats
  readonly hasSparkline: boolean
}

function StatsRow({ chain, window, stats, hasSparkline }: StatsRowProps) {
  const hours = useSolverHours(chain.chainId, stats.solver, window, {
    isWanted: hasSparkline,
    refreshMs: SPARKLINE_REFRESH_MS,
  })
  const medians =
    hours.data === undefined ? [] : hourly(hours.data, ({ medianResponseMs }) => medianResponseMs, now.peek())
  return (
    <LinkRow href={hrefHere('solver', stats.solver)} label={`Solver ${stats.solver}`}>
      <td class="solver-head">
        <SolverLabel address={stats.solver} name={stats.name} />
      </td>
      <td class="right number" data-label="Asked">
        {group(String(stats.asked))}
      </td>
      <td class="right number" data-label="Won">
        {formatShare(winShare(stats))}
      </td>
      <td class="right number" data-label="In time">
        {formatShare(answeredShare(stats))}
      </td>
      <td class="right number" data-label="Median">
        {formatDuration(stats.medianResponseMs)}
      </td>
      <td class="right number" data-label="p95">
        {formatDuration(stats.p95ResponseMs)}
      </td>
      <td class="solver-sparkline">
        <Sparkline values={medians} label="Median response time by hour" />
      </td>
      <td class="right number" data-label="Filled">
        {formatShare(stats.fillRate)}
      </td>
      <td class="right solver-bond" data-label="Free bond">
        <FreeBond chain={chain} stats={stats} />
      </td>
      <td class="solver-state">
        <SolverState {...stats} />
      </td>
    </LinkRow>
  )
}

/** The free part of a solver's bond, as an amount and as a part of the whole. */
export function FreeBond({ chain, stats }: { readonly chain: Chain; readonly stats: SolverStats }) {
  const { freeBond, totalBond } = stats
  if (freeBond === undefined || totalBond === undefined) return <span class="muted">–</span>
  const { decimals, symbol } = chain.bondToken ?? {}
  const free = BigInt(freeBond)
  const total = BigInt(totalBond)
  const exact = `${exactAmount(free, decimals)} of ${exactAmount(total, decimals)}${symbol === undefined ? '' : ` ${symbol}`}`
  return (
    <span class="free-bond" title={exact}>
      <span class="number">
        {formatAmount(free, decimals, { fraction: 2 })} {symbol ?? 'units'}
      </span>
      <ShareBar share={total === 0n ? 0 : Number((free * 10_000n) / total) / 10_000} label="free bond" />
    </span>
  )
}
