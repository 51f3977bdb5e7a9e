import type { ComponentChildren } from 'preact'
import type { Chain } from '../../../../gen/aggregator/v1/chain_pb.js'
import type { SolverStats } from '../../../../gen/aggregator/v1/solver_stats_pb.js'
import { SolverLabel } from '../components/id.js'
import { Answer, NoSolvers } from '../components/notice.js'
import { Paid } from '../components/paid.js'
import { LinkRow, Rows } from '../components/rows.js'
import { Segments } from '../components/segments.js'
import { SolverState } from '../components/solver-state.js'
import { Term } from '../components/term.js'
import { hrefHere } from '../data/chains.js'
import { route } from '../data/route.js'
import { isRisky, readReliabilities } from '../data/solvers/reliability.js'
import { answeredShare, useSolverStats, WINDOWS, winShare } from '../data/solvers/stats.js'
import { exactAmount, formatAmount, formatShare, group } from '../format/amount.js'
import { formatDuration } from '../format/time.js'

/** All solvers and how they compete. */
export function SolversPage({ chain }: { readonly chain: Chain }) {
  const wanted = route.value.query.get('window')
  const window = WINDOWS.find((each) => each === wanted) ?? '24h'
  const stats = useSolverStats(chain.chainId, window)
  return (
    <>
      <div class="page-head">
        <h1>Solvers</h1>
        <Segments
          label="Window of the statistics"
          items={WINDOWS.map((each) => [each, hrefHere('solvers', '', { window: each })])}
          chosen={window}
        />
      </div>
      <Answer query={stats}>
        {({ solvers }) =>
          solvers.length === 0 ? (
            <NoSolvers />
          ) : (
            <>
              <div class="solvers">
                <StatsRows chain={chain} solvers={solvers} />
              </div>
              <p class="muted footnote">
                First come solvers that have paid nine in ten of their orders, then those with the most filled
                ones, because each fill costs gas. The other counts are cheaper to fake.
              </p>
            </>
          )
        }
      </Answer>
    </>
  )
}

interface StatsRowsProps {
  readonly chain: Chain
  readonly solvers: readonly SolverStats[]
}

/** The names of the columns with numbers. */
const COLUMNS = ['Paid', 'Asked', 'Won', 'In time', 'Usual answer', 'p95 answer', 'Free bond'] as const

function StatsRows({ chain, solvers }: StatsRowsProps) {
  const reliabilities = readReliabilities(solvers)
  const isTrusty = ({ solver }: SolverStats) => {
    const known = reliabilities.get(solver.toLowerCase())
    return known !== undefined && known.paid > 0n && !isRisky(known)
  }
  const ranked = solvers.toSorted((a, b) => Number(isTrusty(b)) - Number(isTrusty(a)))
  return (
    <Rows
      caption="Solvers"
      head={
        <>
          <th>Solver</th>
          <th>State</th>
          {COLUMNS.map((name) => (
            <th key={name} class="right">
              <Term name={name} />
            </th>
          ))}
        </>
      }
    >
      {ranked.map((stats) => {
        const known = reliabilities.get(stats.solver.toLowerCase())
        const values: Record<(typeof COLUMNS)[number], ComponentChildren> = {
          Paid: <Paid of={known} />,
          Asked: group(String(stats.asked)),
          Won: formatShare(winShare(stats)),
          'In time': formatShare(answeredShare(stats)),
          'Usual answer': formatDuration(stats.medianResponseMs),
          'p95 answer': formatDuration(stats.p95ResponseMs),
          'Free bond': <FreeBond chain={chain} stats={stats} />,
        }
        return (
          <LinkRow
            key={stats.solver}
            href={hrefHere('solver', stats.solver)}
            label={`Solver ${stats.solver}`}
          >
            <td class="solver-head">
              <SolverLabel address={stats.solver} name={stats.name} />
            </td>
            <td class="solver-state">
              <SolverState {...stats} />
            </td>
            {COLUMNS.map((name) => (
              <td key={name} class="right number" data-label={name}>
                {values[name]}
              </td>
            ))}
          </LinkRow>
        )
      })}
    </Rows>
  )
}

/** The free part of a solver's bond; the whole on hover. */
export function FreeBond({ chain, stats }: { readonly chain: Chain; readonly stats: SolverStats }) {
  const { freeBond, totalBond } = stats
  if (freeBond === undefined || totalBond === undefined) return <span class="muted">–</span>
  const { decimals, symbol } = chain.bondToken ?? {}
  const free = BigInt(freeBond)
  const exact = `${exactAmount(free, decimals)} of ${exactAmount(BigInt(totalBond), decimals)}${symbol === undefined ? '' : ` ${symbol}`}`
  return (
    <span class="number" title={exact}>
      {formatAmount(free, decimals, 2)} {symbol ?? 'units'}
    </span>
  )
}
