import { useEffect, useRef, useState } from 'preact/hooks'
import type { Chain, PairSummary } from '../../../../gen/aggregator/v1/chain_pb.js'
import { FillRates } from '../components/fill-rates.js'
import { Account, Explorer, Id, OrderId, SolverLabel } from '../components/id.js'
import { Answer, Empty, Skeleton } from '../components/notice.js'
import { formatFill, NoOrders, OrderRows } from '../components/order-rows.js'
import { StateMark, type Tone } from '../components/state-mark.js'
import { Age } from '../components/time.js'
import { Amount } from '../components/token-amount.js'
import { chainName, hrefHere } from '../data/chains.js'
import { kindOf } from '../data/event-kinds.js'
import { connection, latestEvents } from '../data/events.js'
import { health, healthOf } from '../data/health.js'
import { addEarlier, type ShownEvent } from '../data/latest-events.js'
import { eventsOf } from '../data/orders/orders.js'
import { useLatestOrders } from '../data/orders/use-latest-orders.js'
import { useFills } from '../data/solvers/stats.js'
import { usePairs } from '../data/tokens/use-pairs.js'
import { group } from '../format/amount.js'
import { formatDuration } from '../format/time.js'

const LATEST = 8
/** Orders whose events are shown below those of the stream. */
const EARLIER = 40
const PAIRS = 5

/** Everything that happens: the events as they come, the latest orders, what pairs have traded, fill rates and the state of the chain. */
export function MarketPage({ chain }: { readonly chain: Chain }) {
  const { chainId } = chain
  const latestTitle = useRef<HTMLHeadingElement>(null)
  const { orders, listed, events, failure, refresh } = useLatestOrders(chainId)
  const fills = useFills(chainId)
  const pairs = usePairs(chainId)
  const entries = addEarlier(events, listed?.slice(0, EARLIER).flatMap(eventsOf) ?? [])
  return (
    <div class="market">
      <h1 class="visually-hidden">Market</h1>
      <section class="panel" aria-labelledby="event-list-title">
        <a class="skip" href={location.hash} onClick={() => latestTitle.current?.focus()}>
          Skip the events
        </a>
        <div class="panel-head">
          <h2 id="event-list-title">Events</h2>
          <StateMark
            word={connection.value.state === 'open' ? 'live' : connection.value.state}
            tone={connection.value.state === 'open' ? 'good' : 'waiting'}
          />
        </div>
        {entries.length > 0 ? (
          <EventList entries={entries} />
        ) : orders === undefined && failure === undefined ? (
          <Skeleton lines={8} />
        ) : (
          <Empty title="No events yet.">Deposits, fills and refunds appear here as they happen.</Empty>
        )}
      </section>
      <div class="market-side">
        <section class="panel" aria-labelledby="latest-title">
          <div class="panel-head">
            <h2 id="latest-title" ref={latestTitle} tabIndex={-1}>
              Latest orders
            </h2>
            <a href={hrefHere('orders')}>all orders</a>
          </div>
          <Answer query={{ data: orders, failure, refresh }} lines={LATEST}>
            {(latest) =>
              latest.length > 0 ? (
                <OrderRows orders={latest.slice(0, LATEST)} without={['user']} />
              ) : (
                failure === undefined && <NoOrders />
              )
            }
          </Answer>
        </section>
        <PairDays chain={chain} pairs={pairs.data?.pairs ?? []} />
        {fills.failure === undefined && fills.solvers?.length !== 0 && <FillRates stats={fills.solvers} />}
        <ChainHealthPanel chain={chain} />
      </div>
    </div>
  )
}

/** New lines come at the top while the list is scrolled to the top. Otherwise a pill counts them. */
function EventList({ entries }: { readonly entries: readonly ShownEvent[] }) {
  const list = useRef<HTMLOListElement>(null)
  const [heldFrom, setHeldFrom] = useState<string>()
  const newest = entries[0]?.key
  const held =
    heldFrom === undefined
      ? 0
      : Math.max(
          0,
          entries.findIndex(({ key }) => key === heldFrom),
        )
  const onScroll = () => {
    const isAtTop = (list.current?.scrollTop ?? 0) < 8
    if (isAtTop && heldFrom !== undefined) setHeldFrom(undefined)
    if (!isAtTop && heldFrom === undefined) setHeldFrom(newest)
  }
  const toTop = () => {
    setHeldFrom(undefined)
    list.current?.scrollTo({ top: 0 })
  }
  useEffect(() => {
    if (heldFrom === undefined) list.current?.scrollTo({ top: 0 })
  }, [newest, heldFrom])
  // A refund itself does not say whose offer was not filled.
  const solverOf = new Map(
    entries.map(({ event }) => [event.orderId, event.solver] as const).filter(([, solver]) => solver),
  )
  return (
    <div class="event-list-box">
      {held > 0 && (
        <button type="button" class="pill" onClick={toTop}>
          ↑ {held} new
        </button>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a list that scrolls must be reached by the keyboard */}
      <ol class="event-list" ref={list} onScroll={onScroll} tabIndex={0} aria-label="Events, newest first">
        {entries.slice(held).map((entry) => (
          <EventLine
            key={`${entry.key} ${entry.removedAt}`}
            entry={entry}
            solver={entry.event.solver ?? solverOf.get(entry.event.orderId)}
          />
        ))}
      </ol>
    </div>
  )
}

interface EventLineProps {
  readonly entry: ShownEvent
  /** Whose offer the order has taken; undefined while it is not known. */
  readonly solver: string | undefined
}

function EventLine({ entry, solver }: EventLineProps) {
  const { event, removedAt, seenAt } = entry
  const isRemoved = removedAt !== undefined
  const kind = kindOf(event.type)
  return (
    <li class={`event-list-line${isRemoved ? ' removed' : ''}${seenAt === undefined ? '' : ' fresh'}`}>
      <span class="event-list-what">
        <StateMark word={event.type.toLowerCase()} tone={kind?.tone ?? 'neutral'} />
        {event.inputToken !== undefined && event.outputToken !== undefined ? (
          <span class="event-list-pair">
            <Amount chainId={event.chainId} address={event.inputToken} amount={event.inputAmount} isShort />
            <span aria-hidden="true">→</span>
            <Amount chainId={event.chainId} address={event.outputToken} amount={event.outputAmount} isShort />
          </span>
        ) : kind?.ofSolver !== undefined && solver !== undefined ? (
          <span>
            {kind.ofSolver} <SolverLabel address={solver} />
          </span>
        ) : (
          event.user !== undefined && (
            <span>
              user <Account address={event.user} />
            </span>
          )
        )}
      </span>
      <span class="event-list-more muted">
        <OrderId id={event.orderId} />
        <span class="number">block {group(String(event.blockNumber))}</span>
        <Age ms={event.blockTime === undefined ? seenAt : event.blockTime * 1000} />
      </span>
      {isRemoved && (
        <span class="event-list-reason">
          Removed <Age ms={removedAt} />: a reorganisation took block {group(String(event.blockNumber))} off
          the chain.
        </span>
      )}
    </li>
  )
}

/** What the pairs with the most orders have traded in the last day. */
function PairDays({ chain, pairs }: { readonly chain: Chain; readonly pairs: readonly PairSummary[] }) {
  const traded = pairs.filter(({ orders24h }) => orders24h > 0)
  if (traded.length === 0) return null
  const orders = traded.reduce((sum, { orders24h }) => sum + orders24h, 0)
  return (
    <section class="panel" aria-labelledby="pairs-title">
      <div class="panel-head">
        <h2 id="pairs-title">Volume, 24 h</h2>
        <span class="muted">
          {group(String(orders))} {orders === 1 ? 'order' : 'orders'}, {traded.length}{' '}
          {traded.length === 1 ? 'pair' : 'pairs'}
        </span>
      </div>
      <ul class="pair-days">
        {traded
          .toSorted((a, b) => b.orders24h - a.orders24h)
          .slice(0, PAIRS)
          .map((pair) => (
            <PairDayLine key={`${pair.inputToken} ${pair.outputToken}`} chain={chain} pair={pair} />
          ))}
      </ul>
    </section>
  )
}

function PairDayLine({ chain, pair }: { readonly chain: Chain; readonly pair: PairSummary }) {
  const { inputToken, outputToken, destinationChainId, inputVolume24h, outputVolume24h } = pair
  const { orders24h, medianFillMs24h } = pair
  return (
    <li>
      <span class="volumes">
        <Amount chainId={chain.chainId} address={inputToken} amount={inputVolume24h} isShort />
        <span aria-hidden="true">→</span>
        <Amount chainId={destinationChainId} address={outputToken} amount={outputVolume24h} isShort />
      </span>
      <span class="muted">
        {group(String(orders24h))} {orders24h === 1 ? 'order' : 'orders'}
        {medianFillMs24h !== undefined && `, median fill ${formatFill(Number(medianFillMs24h))}`}
      </span>
    </li>
  )
}

function ChainHealthPanel({ chain }: { readonly chain: Chain }) {
  const state = healthOf(chain.chainId)
  const newest = latestEvents.value.find(
    ({ event, removedAt }) => removedAt === undefined && BigInt(event.chainId) === chain.chainId,
  )
  const head = Math.max(state?.headBlock ?? Number(chain.headBlock ?? 0), newest?.event.blockNumber ?? 0)
  const tone: Tone =
    state === undefined
      ? 'neutral'
      : state.status === 'ok'
        ? 'good'
        : state.status === 'down'
          ? 'bad'
          : 'waiting'
  return (
    <section class="panel" aria-labelledby="chain-title">
      <div class="panel-head">
        <h2 id="chain-title">{chainName(chain.chainId)}</h2>
        <StateMark word={state?.status ?? 'unknown'} tone={tone} />
      </div>
      <dl class="facts">
        <dt>Chain id</dt>
        <dd class="number">{String(chain.chainId)}</dd>
        <dt>Settlement contract</dt>
        <dd>
          <Id text={chain.settlement} label="address of the settlement contract" />{' '}
          <Explorer chainId={chain.chainId} kind="address" id={chain.settlement} />
        </dd>
        <dt>Head</dt>
        <dd class="number">{head === 0 ? '–' : group(String(head))}</dd>
        <dt>Age of the head</dt>
        <dd class="number">
          {formatDuration(state?.lagMs)}{' '}
          {health.value !== undefined && (
            <span class="muted">
              (reported <Age ms={health.value.readAt} />)
            </span>
          )}
        </dd>
        <dt>Active solvers</dt>
        <dd class="number">{state?.activeSolvers ?? chain.activeSolvers}</dd>
        <dt>Longest round</dt>
        <dd class="number">{formatDuration(chain.quoteTimeoutMs)}</dd>
      </dl>
    </section>
  )
}
