import type { Chain, PairSummary } from '../../../../gen/aggregator/v1/chain_pb.js'
import { type Order, OrderState } from '../../../../gen/aggregator/v1/order_pb.js'
import { Change, fillsOf, RateChart } from '../components/charts/rate-chart.js'
import { Answer, Empty } from '../components/notice.js'
import { NoOrders, OrderRows, rateOf } from '../components/order-rows.js'
import { LinkRow, Rows } from '../components/rows.js'
import { StateMark } from '../components/state-mark.js'
import { Amount, TokenName } from '../components/token-amount.js'
import { hrefHere } from '../data/chains.js'
import { connection } from '../data/events.js'
import { useLatestOrders } from '../data/orders/use-latest-orders.js'
import { route } from '../data/route.js'
import { isOfPair } from '../data/tokens/pairs.js'
import { usePairs } from '../data/tokens/use-pairs.js'
import { group } from '../format/amount.js'

const SHOWN = 25
const PAIRS = 8

/** Everything that happens: the orders as their events come, and what pairs have traded at which rate. */
export function MarketPage({ chain: { chainId } }: { readonly chain: Chain }) {
  const { orders, events, failure, refresh } = useLatestOrders(chainId)
  const fresh = new Set(events.map(({ orderId }) => orderId))
  const { state } = connection.value
  const isOpen = state === 'open'
  return (
    <>
      <div class="page-head">
        <h1>Market</h1>
      </div>
      <div class="market">
        <section class="panel" aria-labelledby="pairs-title">
          <h2 id="pairs-title">Pairs</h2>
          <Answer query={usePairs(chainId)}>
            {({ pairs }) => <Pairs {...{ chainId, pairs }} orders={orders} />}
          </Answer>
        </section>
        <section class="panel tape" aria-labelledby="tape-title">
          <div class="panel-head">
            <h2 id="tape-title">Latest orders</h2>
            <StateMark word={isOpen ? 'live' : state} tone={isOpen ? 'good' : 'waiting'} />
          </div>
          <Answer query={{ data: orders, failure, refresh }}>
            {(known) =>
              known.length > 0 ? (
                <OrderRows orders={known.slice(0, SHOWN)} fresh={fresh} without="user" />
              ) : (
                <NoOrders />
              )
            }
          </Answer>
        </section>
      </div>
    </>
  )
}

interface PairsProps {
  readonly chainId: bigint
  readonly pairs: readonly PairSummary[]
  readonly orders: readonly Order[] | undefined
}

/** The pairs with the most orders of the last day, and what the chosen one has traded at which rate. */
function Pairs({ chainId, pairs, orders }: PairsProps) {
  const traded = pairs.filter(({ orders24h }) => orders24h > 0).toSorted((a, b) => b.orders24h - a.orders24h)
  const shown = traded.slice(0, PAIRS)
  const pair =
    shown.find((each) => keyOf(each) === route.value.query.get('pair')) ?? shown.find(({ listed }) => listed)
  const { inputToken: sell = '', outputToken: buy = '' } = pair ?? {}
  if (shown.length === 0)
    return (
      <Empty title="Nothing was traded in the last 24 hours.">
        <a href={hrefHere('swap')}>Make a swap</a>
      </Empty>
    )
  return (
    <div class="pair-view">
      <Rows
        caption="Pairs"
        kind="pairs"
        head={
          <>
            <th>Pair</th>
            <th class="right">Last rate</th>
            <th class="right">Change</th>
            <th class="right">Volume in 24 h</th>
            <th class="right">Fills in 24 h</th>
          </>
        }
      >
        {shown.map((each) => (
          <PairRow key={keyOf(each)} pair={each} isChosen={each === pair} {...{ chainId, orders }} />
        ))}
      </Rows>
      {pair && (
        <a class="button" href={hrefHere('swap', '', { sell, buy })}>
          Swap this pair
        </a>
      )}
      <RateChart key={sell + buy} {...{ chainId, sell, buy, orders }} />
    </div>
  )
}

interface PairRowProps extends Pick<PairsProps, 'chainId' | 'orders'> {
  readonly pair: PairSummary
  readonly isChosen: boolean
}

function PairRow({ chainId, pair, orders, isChosen }: PairRowProps) {
  const { inputToken: sell, outputToken: buy, destinationChainId, orders24h, outputVolume24h } = pair
  const own = orders?.filter((order) => isOfPair(order, sell, buy)) ?? []
  const last = own.find(({ state }) => state === OrderState.SETTLED)
  return (
    <LinkRow
      href={hrefHere('market', '', { pair: keyOf(pair) })}
      label="Chart of the pair"
      isChosen={isChosen}
    >
      <td class="wide">
        <TokenName chainId={chainId} address={sell} isShort /> →{' '}
        <TokenName chainId={destinationChainId} address={buy} isShort />
      </td>
      <td class="right" data-label="Last rate">
        {last && rateOf(last)}
      </td>
      <td class="right" data-label="Change">
        <Change fills={fillsOf({ chainId, sell, buy, orders })} />
      </td>
      <td class="right" data-label="Volume in 24 h">
        <Amount chainId={destinationChainId} address={buy} amount={outputVolume24h} isShort />
      </td>
      <td class="right" data-label="Fills in 24 h">
        {group(`${orders24h}`)}
      </td>
    </LinkRow>
  )
}

/** As in the filter of the orders. */
const keyOf = ({ inputToken, outputToken }: PairSummary) => `${inputToken}-${outputToken}`
