import type { Chain } from '../../../../gen/aggregator/v1/chain_pb.js'
import type { Order } from '../../../../gen/aggregator/v1/order_pb.js'
import type { GetSolverStatsResponse } from '../../../../gen/aggregator/v1/solver_stats_pb.js'
import { Fact } from '../components/facts.js'
import { Id } from '../components/id.js'
import { Answer, Empty } from '../components/notice.js'
import { OrderRows } from '../components/order-rows.js'
import { Paid } from '../components/paid.js'
import { Segments } from '../components/segments.js'
import { SolverState } from '../components/solver-state.js'
import { Term } from '../components/term.js'
import { TokenName } from '../components/token-amount.js'
import { hrefHere } from '../data/chains.js'
import { listOrders } from '../data/orders/orders.js'
import { useQuery } from '../data/query.js'
import { route } from '../data/route.js'
import { solverName } from '../data/solvers/solvers.js'
import { answeredShare, useStatsOfSolver, WINDOWS, winShare } from '../data/solvers/stats.js'
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
        <Answer query={orders}>
          {({ orders }) =>
            orders.length === 0 ? (
              <Empty title="No orders yet.">Orders of this solver appear here once a user deposits.</Empty>
            ) : (
              <OrderRows orders={orders.slice(0, LATEST)} without={['solver']} />
            )
          }
        </Answer>
      </section>
    </>
  )
}

/** The pairs of these orders. */
function Pairs({ chainId, orders }: { readonly chainId: bigint; readonly orders: readonly Order[] }) {
  const known = orders.filter(({ inputToken, outputToken }) => inputToken && outputToken)
  const pairs = new Set(known.map(({ inputToken, outputToken }) => `${inputToken} ${outputToken}`))
  return (
    <p class="muted">
      {[...pairs].map((pair) => {
        const [sell = '', buy = ''] = pair.split(' ')
        return (
          <a key={pair} class="token-pair" href={hrefHere('swap', '', { sell, buy })}>
            <TokenName chainId={chainId} address={sell} isShort /> →{' '}
            <TokenName chainId={chainId} address={buy} isShort />
          </a>
        )
      })}
    </p>
  )
}

function Statistics({ chain, address }: { readonly chain: Chain; readonly address: string }) {
  const wanted = route.value.query.get('window')
  const window = WINDOWS.find((each) => each === wanted) ?? '24h'
  const answer = useStatsOfSolver(chain.chainId, address, window)
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
      <Answer query={answer}>{(data) => <Numbers chain={chain} data={data} />}</Answer>
    </section>
  )
}

/** The numbers of a window: how it fills and answers, what came of its requests, and why it has won nothing. */
function Numbers({ chain, data }: { readonly chain: Chain; readonly data: GetSolverStatsResponse }) {
  const { stats } = data
  if (stats === undefined) return null
  return (
    <>
      <dl class="fact-row figures">
        <Fact name="State">
          <SolverState {...stats} />
        </Fact>
        <Fact name={<Term name="Paid" />}>
          <Paid of={{ paid: stats.settled, ended: stats.settled + stats.refunded }} />
        </Fact>
        <Fact name={<Term name="Won" />}>{formatShare(winShare(stats))}</Fact>
        <Fact name={<Term name="In time" />}>{formatShare(answeredShare(stats))}</Fact>
        <Fact name={<Term name="Usual answer" />}>{formatDuration(stats.medianResponseMs)}</Fact>
        <Fact name={<Term name="p95 answer" />}>{formatDuration(stats.p95ResponseMs)}</Fact>
        <Fact name={<Term name="Free bond" />}>
          <FreeBond chain={chain} stats={stats} />
        </Fact>
      </dl>
      <dl class="fact-row replies">
        <Fact name={<Term name="Asked" />}>{group(String(stats.asked))}</Fact>
        {REPLIES.map(([count, name]) => (
          <Fact key={count} name={<Term name={name} />}>
            {group(String(stats[count]))}
            {stats[count] > 0n && (
              <span class="muted"> · {formatShare(Number(stats[count]) / Number(stats.asked))}</span>
            )}
          </Fact>
        ))}
      </dl>
    </>
  )
}
