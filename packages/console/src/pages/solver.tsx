import type { Chain } from '../../../../gen/aggregator/v1/chain_pb.js'
import { type Order, OrderState } from '../../../../gen/aggregator/v1/order_pb.js'
import type { GetSolverStatsResponse } from '../../../../gen/aggregator/v1/solver_stats_pb.js'
import { Plot } from '../components/charts/plot.js'
import { Fact } from '../components/facts.js'
import { Id } from '../components/id.js'
import { Answer, Empty } from '../components/notice.js'
import { OrderRows } from '../components/order-rows.js'
import { Paid } from '../components/paid.js'
import { Segments } from '../components/segments.js'
import { SolverState } from '../components/solver-state.js'
import { Legend, Term, type TermName } from '../components/term.js'
import { TokenName } from '../components/token-amount.js'
import { hrefHere } from '../data/chains.js'
import { now } from '../data/clock.js'
import { listOrders } from '../data/orders/orders.js'
import { useQuery } from '../data/query.js'
import { route } from '../data/route.js'
import { solverName } from '../data/solvers/solvers.js'
import { answeredShare, hourly, hoursOf, useSolverHours, WINDOWS, winShare } from '../data/solvers/stats.js'
import { formatShare, group } from '../format/amount.js'
import { formatDuration } from '../format/time.js'
import { FreeBond } from './solvers.js'

/** What comes of a request, with the name of its number. */
const REPLIES = [
  ['quoted', 'Valid offers'],
  ['declined', 'Declined'],
  ['invalid', 'Invalid'],
  ['late', 'Late'],
  ['softDeadline', 'Cut off'],
  ['failed', 'Failed'],
] as const
const LATEST = 15
const WORDS: readonly TermName[] = [
  'Paid',
  'Won',
  'In time',
  'p95 answer',
  ...REPLIES.map(([, name]) => name),
]
/** Its pairs are those of so many orders. */
const LISTED = 100

/** One solver: how it competes over time, and its orders. */
export function SolverPage({ chain, id: address }: { readonly chain: Chain; readonly id: string }) {
  const { chainId } = chain
  const isAddress = /^0x[0-9a-f]{40}$/i.test(address)
  const orders = useQuery(
    isAddress ? `orders ${chainId} of ${address}` : undefined,
    (signal) => listOrders(chainId, { solver: address, pageSize: LISTED }, signal),
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
          <h2 id="solver-orders">Latest orders</h2>
          <a href={hrefHere('orders', '', { solver: address })}>All its orders</a>
        </div>
        <Pairs chainId={chainId} orders={orders.data?.orders ?? []} />
        <Answer query={orders} lines={5}>
          {({ orders }) =>
            orders.length === 0 ? (
              <Empty title="No orders yet.">Orders of this solver appear here once a user deposits.</Empty>
            ) : (
              <OrderRows orders={orders.slice(0, LATEST)} without={['solver']} />
            )
          }
        </Answer>
      </section>
      <Legend names={WORDS} />
    </>
  )
}

/** The pairs that the solver was paid for, in its latest orders, the most frequent one first. */
function Pairs({ chainId, orders }: { readonly chainId: bigint; readonly orders: readonly Order[] }) {
  const pairs = new Map<string, Order[]>()
  for (const order of orders) {
    const key = `${order.inputToken} ${order.outputToken}`
    if (order.inputToken && order.outputToken) pairs.set(key, [...(pairs.get(key) ?? []), order])
  }
  return (
    <dl class="fact-row pairs-of-solver">
      {[...pairs.values()]
        .toSorted((a, b) => b.length - a.length)
        .map((own) => {
          const { inputToken: sell = '', outputToken: buy = '' } = own[0] ?? {}
          const name = (
            <a href={hrefHere('swap', '', { sell, buy })}>
              <TokenName chainId={chainId} address={sell} isShort /> →{' '}
              <TokenName chainId={chainId} address={buy} isShort />
            </a>
          )
          return (
            <Fact key={`${sell} ${buy}`} name={name}>
              {own.filter(({ state }) => state === OrderState.SETTLED).length} of {own.length} paid
            </Fact>
          )
        })}
    </dl>
  )
}

function Statistics({ chain, address }: { readonly chain: Chain; readonly address: string }) {
  const wanted = route.value.query.get('window')
  const window = WINDOWS.find((each) => each === wanted) ?? '24h'
  const answer = useSolverHours(chain.chainId, address, window)
  if (answer.failure?.reason === 'SOLVER_NOT_FOUND')
    return <p class="muted footnote">This solver is not registered.</p>
  return (
    <section class="panel" aria-labelledby="solver-stats">
      <div class="panel-head">
        <h2 id="solver-stats">Statistics</h2>
        <Segments
          label="Window of the statistics"
          items={WINDOWS.map((each) => [each, hrefHere('solver', address, { window: each })])}
          chosen={window}
        />
      </div>
      <Answer query={answer} lines={6}>
        {(data) => <Numbers chain={chain} data={data} />}
      </Answer>
    </section>
  )
}

/** The numbers of a window: how it fills and answers, what came of its requests, and why it has won nothing. */
function Numbers({ chain, data }: { readonly chain: Chain; readonly data: GetSolverStatsResponse }) {
  const { stats } = data
  if (stats === undefined) return null
  return (
    <>
      <dl class="fact-row">
        <Fact name="State">
          <SolverState {...stats} />
        </Fact>
        <Fact name={<Term name="Paid" />}>
          <Paid of={{ paid: stats.settled, ended: stats.settled + stats.refunded }} />
        </Fact>
        <Fact name={<Term name="Asked" />}>{group(String(stats.asked))}</Fact>
        <Fact name={<Term name="Won" />}>{formatShare(winShare(stats))}</Fact>
        <Fact name={<Term name="In time" />}>{formatShare(answeredShare(stats))}</Fact>
        <Fact name={<Term name="Usual answer" />}>{formatDuration(stats.medianResponseMs)}</Fact>
        <Fact name={<Term name="p95 answer" />}>{formatDuration(stats.p95ResponseMs)}</Fact>
        <Fact name={<Term name="Free bond" />}>
          <FreeBond chain={chain} stats={stats} />
        </Fact>
      </dl>
      <dl class="fact-row replies">
        {REPLIES.map(([count, name]) => (
          <Fact key={count} name={<Term name={name} />}>
            {group(String(stats[count]))}
            {stats[count] > 0n && (
              <span class="muted"> · {formatShare(Number(stats[count]) / Number(stats.asked))}</span>
            )}
          </Fact>
        ))}
      </dl>
      <HourCharts data={data} />
    </>
  )
}

type ReadHour = (hour: GetSolverStatsResponse['hours'][number]) => number | undefined

/** How the solver competes over the hours of the window. Nothing before it has two of them. */
function HourCharts({ data }: { readonly data: GetSolverStatsResponse }) {
  // A young instance has no empty hours before its first one.
  const first = Math.min(...data.hours.map(({ start }) => Number(start)))
  const times = hoursOf(data.window, now.peek()).filter((time) => time >= first)
  if (data.hours.length < 2) return null
  const chart = (name: string, read: ReadHour, format: (value: number) => string) => {
    const values = hourly(data, times, read)
    if (values.every((value) => value === undefined)) return null
    return (
      <div>
        <Plot title={`${name} by hour`} times={times} values={values} hasBars height={130} format={format} />
      </div>
    )
  }
  return (
    <div class="hour-charts">
      {chart('Median response', (hour) => hour.medianResponseMs, formatDuration)}
      {chart('Won', winShare, formatShare)}
      {chart('Orders paid', (hour) => Number(hour.settled), formatCount)}
      {chart('Orders refunded', (hour) => Number(hour.refunded), formatCount)}
    </div>
  )
}

const formatCount = (count: number) => (Number.isInteger(count) ? group(String(count)) : '')
