import { useState } from 'preact/hooks'
import type { Chain, PairSummary } from '../../../../gen/aggregator/v1/chain_pb.js'
import { type Order, OrderState } from '../../../../gen/aggregator/v1/order_pb.js'
import { RateChart } from '../components/charts/rate-chart.js'
import { OrderId, SolverLabel } from '../components/id.js'
import { Answer, Empty, Skeleton } from '../components/notice.js'
import { formatFill, OrderStateMark } from '../components/order-rows.js'
import { Paid } from '../components/paid.js'
import { StateMark } from '../components/state-mark.js'
import { Age } from '../components/time.js'
import { Amount } from '../components/token-amount.js'
import { hrefHere } from '../data/chains.js'
import { connection } from '../data/events.js'
import type { ShownEvent } from '../data/latest-events.js'
import { firstStep, timeOf } from '../data/orders/latest-orders.js'
import { timeToFill } from '../data/orders/orders.js'
import { useLatestOrders } from '../data/orders/use-latest-orders.js'
import { useReliabilities } from '../data/solvers/reliability.js'
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
      <div class="market-side">
        <PairDays chainId={chainId} />
        <PaidOrders chainId={chainId} />
      </div>
      <section class="panel" aria-labelledby="event-list-title">
        <div class="panel-head">
          <h2 id="event-list-title">Orders</h2>
          <StateMark
            word={connection.value.state === 'open' ? 'live' : connection.value.state}
            tone={connection.value.state === 'open' ? 'good' : 'waiting'}
          />
        </div>
        <Answer query={{ data: orders, failure, refresh }} lines={8}>
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

/** New lines come at the top. Scrolled down, the browser keeps what is read in its place. */
function LiveOrders({ orders, events }: LiveOrdersProps) {
  const fresh = new Set(events.map(({ event }) => event.orderId))
  const removed = events.filter(({ removedAt }) => removedAt !== undefined)
  // Until the list is read again.
  const isGone = (order: Order) =>
    removed.some(
      ({ event }) =>
        event.orderId === order.orderId && BigInt(event.blockNumber) === firstStep(order)?.blockNumber,
    )
  const lines = [
    ...orders
      .filter((order) => !isGone(order))
      .map((order) => ({
        block: Number(firstStep(order)?.blockNumber ?? 0),
        line: <OrderLine key={order.orderId} order={order} isFresh={fresh.has(order.orderId)} />,
      })),
    ...removed.map((entry) => ({
      block: entry.event.blockNumber,
      line: <RemovedLine key={`${entry.key} ${entry.removedAt}`} entry={entry} />,
    })),
  ]
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a list that scrolls must be reached by the keyboard
    <ol class="event-list" tabIndex={0} aria-label="Orders, newest first">
      {lines.toSorted((a, b) => b.block - a.block).map(({ line }) => line)}
    </ol>
  )
}

/** An order as it stands: what for what, how it has ended, by whom and when. */
function OrderLine({ order, isFresh }: { readonly order: Order; readonly isFresh: boolean }) {
  const { orderId, chainId, state, solver, inputToken, inputAmount, outputToken, outputAmount } = order
  return (
    <li class={`event-list-line${isFresh ? ' fresh' : ''}`}>
      <span class="event-list-what">
        <span class="event-list-pair">
          <Amount chainId={chainId} address={inputToken ?? ''} amount={inputAmount} isShort />
          {state !== OrderState.REFUNDED && (
            <>
              <span aria-hidden="true">→</span>
              <span class={state === OrderState.SETTLED ? '' : 'muted'}>
                <Amount chainId={chainId} address={outputToken ?? ''} amount={outputAmount} isShort />
              </span>
            </>
          )}
        </span>
        <Age ms={timeOf(firstStep(order))} />
      </span>
      <span class="event-list-more">
        <OrderStateMark state={state} fillMs={timeToFill(order)} />
        {solver !== undefined && <SolverLabel address={solver} />}
        <OrderId id={orderId} />
      </span>
    </li>
  )
}

/** An event that a reorganisation has removed. */
function RemovedLine({ entry: { event, removedAt } }: { readonly entry: ShownEvent }) {
  return (
    <li class="event-list-line removed fresh">
      <span class="event-list-what">
        <OrderId id={event.orderId} />
        <StateMark word={event.type.toLowerCase()} tone="neutral" />
      </span>
      <span class="event-list-reason">
        Removed <Age ms={removedAt} />: a reorganisation took block {group(String(event.blockNumber))} off the
        chain.
      </span>
    </li>
  )
}

/** How the solvers of the last day have kept their word. */
function PaidOrders({ chainId }: Pick<Chain, 'chainId'>) {
  const solvers = [...useReliabilities(chainId)].filter(([, { ended }]) => ended > 0n)
  if (solvers.length === 0) return null
  return (
    <section class="panel" aria-labelledby="paid-title">
      <div class="panel-head">
        <h2 id="paid-title">Orders paid, 24 h</h2>
        <a href={hrefHere('solvers')}>All solvers</a>
      </div>
      <ul class="pair-list">
        {solvers.slice(0, PAIRS).map(([address, known]) => (
          <li key={address}>
            <SolverLabel address={address} />
            <span class="number">
              <Paid of={known} />
              {known.usualFillMs !== undefined && (
                <span class="muted">, usually in {formatFill(known.usualFillMs)}</span>
              )}
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}

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
      {traded === undefined && <Skeleton lines={4} />}
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
              <span class="volumes">
                <Amount chainId={chainId} address={each.inputToken} amount={each.inputVolume24h} isShort />
                <span aria-hidden="true">→</span>
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
        <RateChart chainId={chainId} sell={pair.inputToken} buy={pair.outputToken} height={340} />
      )}
    </section>
  )
}

const keyOf = ({ inputToken, outputToken }: PairSummary) => `${inputToken} ${outputToken}`
