import type { Chain, PairSummary } from '../../../../../gen/aggregator/v1/chain_pb.js'
import { Fact } from '../../components/facts.js'
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
  if (own === undefined) return null
  return (
    <section class="panel pair-day" aria-labelledby="pair-day-title">
      <div class="panel-head">
        <h2 id="pair-day-title">This pair</h2>
        <a href={hrefHere('orders')}>All orders</a>
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
          <Fact name="Orders filled, 24 h">{group(String(pair.orders24h))}</Fact>
          <Fact name="Usual time to fill, 24 h">
            {pair.medianFillMs24h === undefined ? '–' : formatFill(Number(pair.medianFillMs24h))}
          </Fact>
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
