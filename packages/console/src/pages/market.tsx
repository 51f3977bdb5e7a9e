import { useState } from 'preact/hooks'
import type { Chain, PairSummary } from '../../../../gen/aggregator/v1/chain_pb.js'
import type { Order } from '../../../../gen/aggregator/v1/order_pb.js'
import { RateChart } from '../components/charts/rate-chart.js'
import { Answer, Empty, Skeleton } from '../components/notice.js'
import { OrderRows } from '../components/order-rows.js'
import { StateMark } from '../components/state-mark.js'
import { TokenName } from '../components/token-amount.js'
import { hrefHere } from '../data/chains.js'
import { connection } from '../data/events.js'
import { useLatestOrders } from '../data/orders/use-latest-orders.js'
import { usePairs } from '../data/tokens/use-pairs.js'

const SHOWN = 12
const PAIRS = 5

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
        <PairDays chainId={chainId} orders={orders} />
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
                <Empty title="No orders yet.">Deposits, fills and refunds appear here as they happen.</Empty>
              )
            }
          </Answer>
        </section>
      </div>
    </>
  )
}

interface PairDaysProps {
  readonly chainId: bigint
  readonly orders: readonly Order[] | undefined
}

/** The pairs with the most orders of the last day, and what the chosen one has traded at which rate. */
function PairDays({ chainId, orders }: PairDaysProps) {
  const pairs = usePairs(chainId).data?.pairs
  const [chosen, choose] = useState('')
  const traded = pairs?.filter(({ orders24h }) => orders24h > 0).toSorted((a, b) => b.orders24h - a.orders24h)
  const shown = traded?.slice(0, PAIRS) ?? []
  const pair = shown.find((each) => keyOf(each) === chosen) ?? shown.find(({ listed }) => listed)
  const { inputToken: sell = '', outputToken: buy = '' } = pair ?? {}
  return (
    <section class="panel" aria-labelledby="pairs-title">
      <h2 id="pairs-title" class="visually-hidden">
        Pairs
      </h2>
      {traded === undefined && <Skeleton />}
      {traded?.length === 0 && (
        <Empty title="Nothing was traded in the last 24 hours.">
          <a href={hrefHere('swap')}>Make a swap</a>
        </Empty>
      )}
      {shown.length > 0 && (
        <div class="pair-view">
          <div class="panel-head">
            <div class="pair-choices">
              {shown.map((each) => (
                <button
                  key={keyOf(each)}
                  type="button"
                  class="chip"
                  aria-pressed={each === pair}
                  onClick={() => choose(keyOf(each))}
                >
                  <TokenName chainId={chainId} address={each.inputToken} isShort /> →{' '}
                  <TokenName chainId={each.destinationChainId} address={each.outputToken} isShort />
                </button>
              ))}
            </div>
            {pair && (
              <a class="button" href={hrefHere('swap', '', { sell, buy })}>
                Swap this pair
              </a>
            )}
          </div>
          <RateChart {...{ chainId, sell, buy, orders }} />
        </div>
      )}
    </section>
  )
}

const keyOf = ({ inputToken, outputToken }: PairSummary) => `${inputToken} ${outputToken}`
