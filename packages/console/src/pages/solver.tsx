import type { Chain } from '../../../../gen/aggregator/v1/chain_pb.js'
import type { GetSolverStatsResponse } from '../../../../gen/aggregator/v1/solver_stats_pb.js'
import { HourChart } from '../components/charts/hour-chart.js'
import { Fact } from '../components/facts.js'
import { Id } from '../components/id.js'
import { Answer, Empty } from '../components/notice.js'
import { OrderRows } from '../components/order-rows.js'
import { Replies } from '../components/replies.js'
import { SolverState } from '../components/solver-state.js'
import { WindowChoice } from '../components/window-choice.js'
import { hrefHere } from '../data/chains.js'
import { now } from '../data/clock.js'
import { listOrders } from '../data/orders/orders.js'
import { useQuery } from '../data/query.js'
import { route } from '../data/route.js'
import { solverName } from '../data/solvers/solvers.js'
import {
  answeredShare,
  hourly,
  type StatsWindow,
  useSolverHours,
  WINDOWS,
  winShare,
} from '../data/solvers/stats.js'
import { formatShare, group } from '../format/amount.js'
import { formatDuration } from '../format/time.js'
import { FreeBond } from './solvers.js'

const LATEST = 20

/** One solver: how it competes over time, and its orders. */
export function SolverPage({ chain, address }: { readonly chain: Chain; readonly address: string }) {
  const { chainId } = chain
  const isAddress = /^0x[0-9a-f]{40}$/i.test(address)
  const orders = useQuery(
    isAddress ? `orders ${chainId} of ${address}` : undefined,
    (signal) => listOrders(chainId, { solver: address, pageSize: LATEST }, signal),
    { refreshOn: ({ solver }) => solver?.toLowerCase() === address.toLowerCase() },
  )
  const name = solverName(address)
  if (!isAddress) return <Empty title="This is no address.">Search for a solver by its address.</Empty>
  return (
    <>
      <div class="page-head">
        <h1>
          {name === undefined ? 'Solver' : <bdi class="long-name">{name}</bdi>}{' '}
          <Id text={address} label="solver's address" />
        </h1>
      </div>
      <Statistics chain={chain} address={address} />
      <section class="panel" aria-labelledby="solver-orders">
        <div class="panel-head">
          <h2 id="solver-orders">Orders</h2>
          <a href={hrefHere('orders', '', { solver: address })}>all its orders</a>
        </div>
        <Answer query={orders} lines={5}>
          {({ orders }) =>
            orders.length === 0 ? (
              <Empty title="No orders yet.">Orders of this solver appear here once a user deposits.</Empty>
            ) : (
              <OrderRows orders={orders} without={['solver']} />
            )
          }
        </Answer>
      </section>
    </>
  )
}

interface StatisticsProps {
  readonly chain: Chain
  readonly address: string
}

function Statistics({ chain, address }: StatisticsProps) {
  const wanted = route.value.query.get('window')
  const window = WINDOWS.find((each) => each === wanted) ?? '24h'
  const answer = useSolverHours(chain.chainId, address, window)
  if (answer.failure?.reason === 'SOLVER_NOT_FOUND')
    return <p class="muted footnote">This solver is not registered.</p>
  return (
    <Answer query={answer} lines={6}>
      {(data) => <StatisticsPanel chain={chain} address={address} data={data} window={window} />}
    </Answer>
  )
}

interface StatisticsPanelProps extends StatisticsProps {
  readonly data: GetSolverStatsResponse
  readonly window: StatsWindow
}

function StatisticsPanel({ chain, address, data, window }: StatisticsPanelProps) {
  const { stats } = data
  if (stats === undefined) return null
  return (
    <section class="panel" aria-labelledby="solver-stats">
      <div class="panel-head">
        <h2 id="solver-stats">Statistics</h2>
        <WindowChoice page="solver" id={address} window={window} />
      </div>
      <dl class="fact-row">
        <Fact name="State">
          <SolverState {...stats} />
        </Fact>
        <Fact name="Asked">{group(String(stats.asked))}</Fact>
        <Fact name="Won">{formatShare(winShare(stats))}</Fact>
        <Fact name="Answered in time">{formatShare(answeredShare(stats))}</Fact>
        <Fact name="Filled">{formatShare(stats.fillRate)}</Fact>
        <Fact name="Median">{formatDuration(stats.medianResponseMs)}</Fact>
        <Fact name="p95">{formatDuration(stats.p95ResponseMs)}</Fact>
        <Fact name="Free bond">
          <FreeBond chain={chain} stats={stats} />
        </Fact>
      </dl>
      <Replies stats={stats} />
      <div class="hour-charts">
        <HourChart
          title="Median response"
          values={hourly(data, (hour) => hour.medianResponseMs, now.value)}
          format={formatDuration}
        />
        <HourChart title="Won" values={hourly(data, winShare, now.value)} most={1} format={formatShare} />
        <HourChart
          title="Orders filled"
          values={hourly(data, (hour) => Number(hour.settled), now.value)}
          format={String}
        />
        <HourChart
          title="Orders refunded"
          values={hourly(data, (hour) => Number(hour.refunded), now.value)}
          format={String}
        />
      </div>
    </section>
  )
}
