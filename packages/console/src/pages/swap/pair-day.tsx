import type { Chain, PairSummary } from '../../../../../gen/aggregator/v1/chain_pb.js'
import type { Order } from '../../../../../gen/aggregator/v1/order_pb.js'
import { Fact } from '../../components/facts.js'
import { formatFill, OrdersPanel } from '../../components/order-rows.js'
import { Amount } from '../../components/token-amount.js'
import { hrefHere } from '../../data/chains.js'
import { isOfPair } from '../../data/tokens/pairs.js'
import { group } from '../../format/amount.js'

const SHOWN = 5

interface PairDayProps {
  readonly chain: Chain
  readonly sell: string
  readonly buy: string
  /** Undefined before they are read. */
  readonly pairs: readonly PairSummary[] | undefined
  /** The latest ones of the chain; undefined before they are read. */
  readonly orders: readonly Order[] | undefined
}

/** What a pair has traded: a line of the last day, and its last orders. */
export function PairDay({ chain: { chainId }, sell, buy, pairs, orders }: PairDayProps) {
  const own = orders?.filter((order) => isOfPair(order, sell, buy))
  const pair = pairs?.find((each) => isOfPair(each, sell, buy) && each.destinationChainId === chainId)
  return (
    <OrdersPanel title="This pair" href={hrefHere('orders')} orders={own?.slice(0, SHOWN)} without="user">
      {pair !== undefined && <PairFacts chainId={chainId} pair={pair} />}
    </OrdersPanel>
  )
}

/** What a pair has traded in the last day. */
export const PairFacts = ({ chainId, pair }: Pick<Chain, 'chainId'> & { readonly pair: PairSummary }) => (
  <dl class="fact-row pair-facts">
    <Fact name="Sold, 24 h">
      <Amount chainId={chainId} address={pair.inputToken} amount={pair.inputVolume24h} isShort />
    </Fact>
    <Fact name="Bought, 24 h">
      <Amount
        chainId={pair.destinationChainId}
        address={pair.outputToken}
        amount={pair.outputVolume24h}
        isShort
      />
    </Fact>
    <Fact name="Orders filled, 24 h">{group(String(pair.orders24h))}</Fact>
    <Fact name="Usual time to fill">
      {pair.medianFillMs24h === undefined ? '–' : formatFill(Number(pair.medianFillMs24h))}
    </Fact>
  </dl>
)
