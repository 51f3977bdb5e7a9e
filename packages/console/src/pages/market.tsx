import { useState } from 'preact/hooks'
import type { Chain, PairSummary } from '../../../../gen/aggregator/v1/chain_pb.js'
import type { Order } from '../../../../gen/aggregator/v1/order_pb.js'
import { RateChart } from '../components/charts/rate-chart.js'
import { OrderId } from '../components/id.js'
import { Answer, Empty, Skeleton } from '../components/notice.js'
import { formatFill, OrderRows } from '../components/order-rows.js'
import { StateMark } from '../components/state-mark.js'
import { Age } from '../components/time.js'
import { Amount, TokenName } from '../components/token-amount.js'
import { hrefHere } from '../data/chains.js'
import { connection } from '../data/events.js'
import type { ShownEvent } from '../data/latest-events.js'
import { firstStep } from '../data/orders/latest-orders.js'
import { useLatestOrders } from '../data/orders/use-latest-orders.js'
import { usePairs } from '../data/tokens/use-pairs.js'
import { group } from '../format/amount.js'

const SHOWN = 60
const PAIRS = 5

/** Everything that happens: the orders as their events come, and what pairs have traded at which rate. */
export function MarketPage({ chain }: { readonly chain: Chain }) {
  const { chainId } = chain
  const { orders, events, failure, refresh } = useLatestOrders(chainId)
  return (
    <div class="market">
      <h1 class="visually-hidden">Market</h1>
      <PairDays chainId={chainId} />
      <section class="panel tape" aria-labelledby="tape-title">
        <div class="panel-head">
          <h2 id="tape-title">Orders</h2>
          <StateMark
            word={connection.value.state === 'open' ? 'live' : connection.value.state}
            tone={connection.value.state === 'open' ? 'good' : 'waiting'}
          />
        </div>
        <Answer query={{ data: orders, failure, refresh }}>
          {(known) =>
            known.length > 0 ? (
              <LiveOrders orders={known.slice(0, SHOWN)} events={events} />
            ) : (
              <Empty title="No orders yet.">Deposits, fills and refunds appear here as they happen.</Empty>
            )
          }
        </Answer>
      </section>
    </div>
  )
}

interface LiveOrdersProps {
  readonly orders: readonly Order[]
  readonly events: readonly ShownEvent[]
}

/** New orders come at the top. Scrolled down, the browser keeps what is read in its place. */
function LiveOrders({ orders, events }: LiveOrdersProps) {
  const fresh = new Set(events.map(({ event }) => event.orderId))
  const removed = events.filter(({ removedAt }) => removedAt !== undefined)
  // Until the list is read again.
  const isGone = (order: Order) =>
    removed.some(
      ({ event }) =>
        event.orderId === order.orderId && BigInt(event.blockNumber) === firstStep(order)?.blockNumber,
    )
  return (
    <OrderRows
      orders={orders.filter((order) => !isGone(order))}
      fresh={fresh}
      without={['user']}
      others={removed.map((entry) => [
        entry.event.blockNumber,
        <RemovedRow key={`${entry.key} ${entry.removedAt}`} entry={entry} />,
      ])}
    />
  )
}

/** An event that a reorganisation has removed. */
const RemovedRow = ({ entry: { event, removedAt } }: { readonly entry: ShownEvent }) => (
  <tr class="removed fresh">
    <td colSpan={7}>
      <s>
        <OrderId id={event.orderId} /> <StateMark word={event.type.toLowerCase()} tone="neutral" />
      </s>
      <p>
        Removed <Age ms={removedAt} />: a reorganisation took block {group(String(event.blockNumber))} off the
        chain.
      </p>
    </td>
  </tr>
)

/** What the pairs with the most orders have traded in the last day, and the rate of the chosen one. */
function PairDays({ chainId }: Pick<Chain, 'chainId'>) {
  const pairs = usePairs(chainId).data?.pairs
  const [chosen, choose] = useState('')
  const traded = pairs?.filter(({ orders24h }) => orders24h > 0).toSorted((a, b) => b.orders24h - a.orders24h)
  const shown = traded?.slice(0, PAIRS) ?? []
  const pair = shown.find((each) => keyOf(each) === chosen) ?? shown.find(({ listed }) => listed)
  return (
    <section class="panel" aria-labelledby="pairs-title">
      <div class="panel-head">
        <h2 id="pairs-title">Pairs, 24 h</h2>
        {pair !== undefined && (
          <a href={hrefHere('swap', '', { sell: pair.inputToken, buy: pair.outputToken })}>Swap this pair</a>
        )}
      </div>
      {traded === undefined && <Skeleton />}
      {traded?.length === 0 && (
        <Empty title="Nothing was traded in the last 24 hours.">
          <a href={hrefHere('swap')}>Make a swap</a>
        </Empty>
      )}
      <ul class="pair-days">
        {shown.map((each) => (
          <li key={keyOf(each)}>
            <button
              type="button"
              class="pair-choice"
              aria-pressed={each === pair}
              onClick={() => choose(keyOf(each))}
            >
              <strong>
                <TokenName chainId={chainId} address={each.inputToken} isShort /> →{' '}
                <TokenName chainId={each.destinationChainId} address={each.outputToken} isShort />
              </strong>
              <span class="volumes">
                <Amount chainId={chainId} address={each.inputToken} amount={each.inputVolume24h} isShort />
                <span class="muted">for</span>
                <Amount
                  chainId={each.destinationChainId}
                  address={each.outputToken}
                  amount={each.outputVolume24h}
                  isShort
                />
              </span>
              <span class="muted">
                {group(String(each.orders24h))} filled
                {each.medianFillMs24h !== undefined &&
                  `, usually in ${formatFill(Number(each.medianFillMs24h))}`}
              </span>
            </button>
          </li>
        ))}
      </ul>
      {pair !== undefined && (
        <RateChart chainId={chainId} sell={pair.inputToken} buy={pair.outputToken} height={460}>
          <figcaption class="muted">
            Anyone can trade with themselves at any price. The axis does not begin at 0.
          </figcaption>
        </RateChart>
      )}
    </section>
  )
}

const keyOf = ({ inputToken, outputToken }: PairSummary) => `${inputToken} ${outputToken}`
