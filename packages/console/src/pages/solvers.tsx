import type { Chain } from '../../../../gen/aggregator/v1/chain_pb.js'
import { type Order, OrderState } from '../../../../gen/aggregator/v1/order_pb.js'
import type { SolverStats } from '../../../../gen/aggregator/v1/solver_stats_pb.js'
import { SolverLabel } from '../components/id.js'
import { Answer, NoSolvers } from '../components/notice.js'
import { formatFill, OrdersPanel } from '../components/order-rows.js'
import { Paid } from '../components/paid.js'
import { LinkRow, Rows } from '../components/rows.js'
import { Segments } from '../components/segments.js'
import { SolverState } from '../components/solver-state.js'
import { Term } from '../components/term.js'
import { BondAmount } from '../components/token-amount.js'
import { hrefHere } from '../data/chains.js'
import { listOrders } from '../data/orders/orders.js'
import { useLatestOrders } from '../data/orders/use-latest-orders.js'
import { useQuery } from '../data/query.js'
import { type PageName, route } from '../data/route.js'
import { usualFillMs, weightOf } from '../data/solvers/reliability.js'
import { answeredShare, useSolverStats, WINDOWS, winShare } from '../data/solvers/stats.js'
import { formatShare, group } from '../format/amount.js'
import { formatDuration } from '../format/time.js'

const LATEST = 5

/** All solvers and how they compete. */
export function SolversPage({ chain }: { readonly chain: Chain }) {
  const { window, choice } = useStatsWindow('solvers')
  const stats = useSolverStats(chain.chainId, window)
  const { orders } = useLatestOrders(chain.chainId)
  return (
    <>
      <div class="page-head">
        <h1>Solvers</h1>
        {choice}
      </div>
      <Answer query={stats}>
        {({ solvers }) =>
          solvers.length === 0 ? (
            <NoSolvers />
          ) : (
            <>
              <div class="solvers">
                <StatsRows chain={chain} solvers={solvers} orders={orders} />
              </div>
              <p class="muted footnote">In the order of paid orders, less nine for each unpaid one.</p>
              <Unpaid chain={chain} />
            </>
          )
        }
      </Answer>
    </>
  )
}

interface UnpaidProps {
  readonly chain: Chain
  /** Whose orders they are; all solvers' when left out. */
  readonly solver?: string
}

/** The latest orders that were not paid; nothing while there are none. */
export function Unpaid({ chain: { chainId }, solver }: UnpaidProps) {
  const filter = { solver, state: OrderState.REFUNDED, pageSize: LATEST }
  const { data } = useQuery(`unpaid ${chainId} ${solver}`, (signal) => listOrders(chainId, filter, signal), {
    refreshOn: ({ type }) => type === 'Refunded',
  })
  if (!data?.orders.length) return null
  return (
    <OrdersPanel
      title="Refunded, the latest"
      href={hrefHere('orders', '', { solver, state: 'refunded' })}
      orders={data.orders}
      without={solver === undefined ? 'user' : 'solver'}
    />
  )
}

interface StatsRowsProps {
  readonly chain: Chain
  readonly solvers: readonly SolverStats[]
  readonly orders: readonly Order[] | undefined
}

function StatsRows({ chain, solvers, orders = [] }: StatsRowsProps) {
  const weight = ({ settled, refunded }: SolverStats) =>
    Number(weightOf({ paid: settled, ended: settled + refunded }))
  const rows = solvers
    .toSorted((a, b) => weight(b) - weight(a))
    .map((stats) => [stats, Object.entries(numbersOf(chain, stats, orders))] as const)
  return (
    <Rows
      caption="Solvers"
      head={
        <>
          <th>Solver</th>
          <th>State</th>
          {rows[0]?.[1].map(([name]) => (
            <th key={name} class="right">
              <Term name={name} />
            </th>
          ))}
        </>
      }
    >
      {rows.map(([stats, numbers]) => (
        <LinkRow key={stats.solver} href={hrefHere('solver', stats.solver)} label={`Solver ${stats.solver}`}>
          <td class="solver-head">
            <SolverLabel address={stats.solver} name={stats.name} hasAddress />
          </td>
          <td class="solver-state">
            <SolverState {...stats} />
          </td>
          {numbers.map(([name, value]) => (
            <td key={name} class="right number">
              <span class="cell-name">
                <Term name={name} />
              </span>
              {value}
            </td>
          ))}
        </LinkRow>
      ))}
    </Rows>
  )
}

/** The numbers of a solver by their names. @param orders among which are its latest */
export function numbersOf(chain: Chain, stats: SolverStats, orders: readonly Order[]) {
  const { settled: paid, refunded, solver } = stats
  return {
    Paid: <Paid of={{ paid, ended: paid + refunded }} solver={solver} />,
    'Usual fill': formatFill(usualFillMs(orders, stats.solver)),
    Won: (
      <>
        {formatShare(winShare(stats))} <span class="of">of {group(String(stats.asked))} asked</span>
      </>
    ),
    'Offered or declined': formatShare(answeredShare(stats)),
    'Usual answer': (
      <>
        {formatDuration(stats.medianResponseMs)}{' '}
        <span class="of">p95 {formatDuration(stats.p95ResponseMs)}</span>
      </>
    ),
    // The bond token is learned with the chain.
    'Free bond': <BondAmount chain={chain} amount={chain.bondToken && stats.freeBond} />,
  }
}

/** The chosen window of statistics, and the links to the others. @param id of the solver, on its page */
export function useStatsWindow(page: PageName, id = '') {
  const wanted = route.value.query.get('window')
  const window = WINDOWS.find((each) => each === wanted) ?? '24h'
  const items = WINDOWS.map((each) => [each, hrefHere(page, id, { window: each })] as const)
  return { window, choice: <Segments label="Window of the statistics" items={items} chosen={window} /> }
}
