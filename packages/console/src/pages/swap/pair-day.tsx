import type { Chain, PairSummary } from '../../../../../gen/aggregator/v1/chain_pb.js'
import { type Order, OrderState } from '../../../../../gen/aggregator/v1/order_pb.js'
import { Fact } from '../../components/facts.js'
import { SolverLabel } from '../../components/id.js'
import { Empty } from '../../components/notice.js'
import { formatFill, OrderRows } from '../../components/order-rows.js'
import { Amount } from '../../components/token-amount.js'
import { hrefHere } from '../../data/chains.js'
import { useLatestOrders } from '../../data/orders/use-latest-orders.js'
import { isOfPair } from '../../data/tokens/pairs.js'
import { group } from '../../format/amount.js'

const SHOWN = 5

interface PairDayProps {
  readonly chain: Chain
  readonly sell: string
  readonly buy: string
  /** Undefined before they are read. */
  readonly pairs: readonly PairSummary[] | undefined
}

/** What a pair has traded: a line of the last day, and its last orders. */
export function PairDay({ chain, sell, buy, pairs }: PairDayProps) {
  const { chainId } = chain
  const { orders } = useLatestOrders(chainId)
  const own = orders?.filter((order) => isOfPair(order, sell, buy))
  const pair = pairs?.find((each) => isOfPair(each, sell, buy) && each.destinationChainId === chainId)
  const best = own && bestSolver(own)
  if (own === undefined) return null
  return (
    <section class="panel pair-day" aria-labelledby="pair-day-title">
      <div class="panel-head">
        <h2 id="pair-day-title">This pair</h2>
        <a href={hrefHere('orders')}>all orders</a>
      </div>
      {pair !== undefined && (
        <dl class="fact-row">
          <Fact name="Volume, 24 h">
            <span class="volumes">
              <Amount chainId={chainId} address={sell} amount={pair.inputVolume24h} />
              <span class="muted">for</span>
              <Amount chainId={chainId} address={buy} amount={pair.outputVolume24h} />
            </span>
          </Fact>
          <Fact name="Orders, 24 h">{group(String(pair.orders24h))}</Fact>
          <Fact name="Median time to fill, 24 h">
            {pair.medianFillMs24h === undefined ? '–' : formatFill(Number(pair.medianFillMs24h))}
          </Fact>
          {best !== undefined && (
            <Fact name="Most fills">
              <SolverLabel address={best.solver} />{' '}
              <span class="muted">
                {best.fills} of the last {best.of}
              </span>
            </Fact>
          )}
        </dl>
      )}
      {own.length === 0 ? (
        <Empty title="No order of this pair yet." />
      ) : (
        <OrderRows orders={own.slice(0, SHOWN)} without={['user']} />
      )}
    </section>
  )
}

/** The solver that has filled the most of these orders. */
function bestSolver(orders: readonly Order[]) {
  const settled = orders.filter(({ state }) => state === OrderState.SETTLED)
  const fills = new Map<string, number>()
  for (const { solver } of settled) if (solver !== undefined) fills.set(solver, (fills.get(solver) ?? 0) + 1)
  const [best] = [...fills].toSorted(([, a], [, b]) => b - a)
  return best && { solver: best[0], fills: best[1], of: settled.length }
}
