import type { Chain } from '../../../../gen/aggregator/v1/chain_pb.js'
import type { Order } from '../../../../gen/aggregator/v1/order_pb.js'
import { Fact } from '../components/facts.js'
import { Explorer, Id } from '../components/id.js'
import { Answer, FailureNotice } from '../components/notice.js'
import { OrdersPanel } from '../components/order-rows.js'
import { SolverState } from '../components/solver-state.js'
import { Term } from '../components/term.js'
import { TokenName } from '../components/token-amount.js'
import { hrefHere } from '../data/chains.js'
import { listOrders } from '../data/orders/orders.js'
import { useQuery } from '../data/query.js'
import { solverName } from '../data/solvers/solvers.js'
import { useStatsOfSolver } from '../data/solvers/stats.js'
import { formatShare, group } from '../format/amount.js'
import { numbersOf, Unpaid, useStatsWindow } from './solvers.js'

/** What comes of a request, with the name of its number. */
const REPLIES = [
  ['quoted', 'Valid offers'],
  ['declined', 'Declined'],
  ['invalid', 'Invalid'],
  ['late', 'Late'],
  ['softDeadline', 'Cut off'],
  ['failed', 'Failed'],
] as const
const LATEST = 10
/** Its pairs and its usual time to fill are those of so many orders. */
const LISTED = 100

/** One solver: how it competes over time, and its orders. */
export function SolverPage({ chain, id: address }: { readonly chain: Chain; readonly id: string }) {
  const { chainId } = chain
  const orders = useQuery(
    `orders ${chainId} of ${address}`,
    (signal) => listOrders(chainId, { solver: address, pageSize: LISTED }, signal),
    { refreshOn: ({ solver }) => solver?.toLowerCase() === address.toLowerCase() },
  )
  const name = solverName(address)
  return (
    <>
      <div class="page-head">
        <h1>
          {name === undefined ? 'Solver' : <bdi class="long-name">{name}</bdi>}{' '}
          <Id text={address} label="solver's address" />
          <Explorer chainId={chainId} kind="address" id={address} />
        </h1>
      </div>
      <Statistics chain={chain} address={address} orders={orders.data?.orders ?? []} />
      <Unpaid chain={chain} solver={address} />
      <OrdersPanel
        title="Latest orders"
        href={hrefHere('orders', '', { solver: address })}
        orders={orders.data?.orders.slice(0, LATEST)}
        without="solver"
      >
        <Pairs chainId={chainId} orders={orders.data?.orders ?? []} />
        {orders.failure && <FailureNotice failure={orders.failure} retry={orders.refresh} />}
      </OrdersPanel>
    </>
  )
}

/** The pairs of these orders. */
function Pairs({ chainId, orders }: { readonly chainId: bigint; readonly orders: readonly Order[] }) {
  const pairs = new Map(orders.map((order) => [`${order.inputToken} ${order.outputToken}`, order]))
  return (
    <p class="pair-choices">
      Swap, among all solvers:
      {[...pairs].map(([key, { inputToken: sell = '', outputToken: buy = '' }]) => (
        <a key={key} class="chip" href={hrefHere('swap', '', { sell, buy })}>
          <TokenName chainId={chainId} address={sell} isShort /> →{' '}
          <TokenName chainId={chainId} address={buy} isShort />
        </a>
      ))}
    </p>
  )
}

interface StatisticsProps {
  readonly chain: Chain
  readonly address: string
  /** Its latest ones. */
  readonly orders: readonly Order[]
}

/** How it fills and answers, and what came of its requests. */
function Statistics({ chain, address, orders }: StatisticsProps) {
  const { window, choice } = useStatsWindow('solver', address)
  const answer = useStatsOfSolver(chain.chainId, address, window)
  const stats = answer.data?.stats
  if (answer.failure?.reason === 'SOLVER_NOT_FOUND')
    return <p class="muted footnote">This solver is not registered.</p>
  return (
    <section class="panel" aria-labelledby="solver-stats">
      <div class="panel-head statistics-head">
        <h2 id="solver-stats">Statistics</h2>
        {stats && <SolverState {...stats} />}
        {choice}
      </div>
      <Answer query={answer}>
        {({ stats }) =>
          stats && (
            <>
              <dl class="fact-row figures">
                {Object.entries(numbersOf(chain, stats, orders)).map(([name, value]) => (
                  <Fact key={name} name={<Term name={name} />}>
                    {value}
                  </Fact>
                ))}
              </dl>
              <dl class="fact-row replies">
                {REPLIES.map(([count, name]) => (
                  <Fact key={count} name={<Term name={name} />}>
                    {group(String(stats[count]))}
                    {stats[count] > 0n && (
                      <span class="of">{formatShare(Number(stats[count]) / Number(stats.asked))}</span>
                    )}
                  </Fact>
                ))}
              </dl>
            </>
          )
        }
      </Answer>
    </section>
  )
}
