import { useEffect, useRef, useState } from 'preact/hooks'
import type { Chain } from '../../../../gen/aggregator/v1/chain_pb.js'
import type { Order } from '../../../../gen/aggregator/v1/order_pb.js'
import { FillRates } from '../components/fill-rates.js'
import { Account, OrderId, SolverLabel } from '../components/id.js'
import { Empty, FailureNotice, Skeleton } from '../components/notice.js'
import { OrderRows } from '../components/order-rows.js'
import { StateMark, type Tone } from '../components/state-mark.js'
import { Age } from '../components/time.js'
import { Amount } from '../components/token-amount.js'
import { hrefHere } from '../data/chains.js'
import { kindOf } from '../data/event-kinds.js'
import { connection, latestEvents } from '../data/events.js'
import { health, healthOf } from '../data/health.js'
import { addEarlier, type ShownEvent } from '../data/latest-events.js'
import { needsList, withEvents } from '../data/latest-orders.js'
import { eventsOf, listOrders } from '../data/orders.js'
import { useQuery } from '../data/query.js'
import { useFills } from '../data/stats.js'
import { group } from '../format/amount.js'
import { formatDuration } from '../format/time.js'

const LATEST = 8
const EARLIER = 40
/** Time between two lists that events cause. They do so when an event does not have the amounts of its order. */
const LIST_PAUSE_MS = 5000
/** More than the list of events has, so that none of its deposits is taken for a new one. */
const KEPT = 300

/** Everything that happens: the events as they come, the latest orders, fill rates and the state of the chain. */
export function MarketPage({ chain }: { readonly chain: Chain }) {
  const { chainId } = chain
  const latestTitle = useRef<HTMLHeadingElement>(null)
  const known = useRef<ReadonlySet<string>>(new Set())
  const orders = useQuery(
    `orders ${chainId} latest`,
    (signal) => listOrders(chainId, { pageSize: EARLIER }, signal),
    {
      refreshOn: (event) =>
        BigInt(event.chainId) === chainId && needsList(event, known.current, latestEvents.peek()),
      eventPauseMs: LIST_PAUSE_MS,
    },
  )
  const fills = useFills(chainId)
  const own = latestEvents.value.filter(({ event }) => BigInt(event.chainId) === chainId)
  const latest = useLatest(orders.data?.orders, own)
  known.current = new Set(latest.map(({ orderId }) => orderId))
  const entries = addEarlier(own, orders.data?.orders.flatMap(eventsOf) ?? [])
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
        ) : orders.data === undefined && orders.failure === undefined ? (
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
          {orders.failure !== undefined && <FailureNotice failure={orders.failure} retry={orders.refresh} />}
          {orders.data === undefined ? (
            orders.failure === undefined && <Skeleton lines={LATEST} />
          ) : latest.length === 0 ? (
            orders.failure === undefined && (
              <Empty title="No orders yet.">
                <a href={hrefHere('swap')}>Run a swap</a>, or point a solver here.
              </Empty>
            )
          ) : (
            <div class="compact">
              <OrderRows orders={latest.slice(0, LATEST)} isCompact />
            </div>
          )}
        </section>
        {fills.failure === undefined && fills.solvers?.length !== 0 && <FillRates stats={fills.solvers} />}
        <ChainHealthPanel chain={chain} />
      </div>
    </div>
  )
}

/** Adds the events of the list of events to the orders that were listed before, also those that the list of events no longer has. */
function useLatest(listed: readonly Order[] | undefined, events: readonly ShownEvent[]): readonly Order[] {
  const state = useRef<{ listed: readonly Order[] | undefined; orders: readonly Order[] } | undefined>(
    undefined,
  )
  if (state.current === undefined || state.current.listed !== listed)
    state.current = { listed, orders: listed ?? [] }
  state.current.orders = withEvents(state.current.orders, events).slice(0, KEPT)
  return state.current.orders
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
        <OrderId id={event.orderId} />
        <span class="number muted">block {group(String(event.blockNumber))}</span>
        <Age ms={event.blockTime === undefined ? seenAt : event.blockTime * 1000} />
      </span>
      <span class="event-list-more muted">
        {event.inputToken !== undefined && event.outputToken !== undefined ? (
          <span class="event-list-pair">
            <Amount chainId={event.chainId} address={event.inputToken} amount={event.inputAmount} />
            <span aria-hidden="true">→</span>
            <Amount chainId={event.chainId} address={event.outputToken} amount={event.outputAmount} />
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
      {isRemoved && (
        <span class="event-list-reason">
          Removed <Age ms={removedAt} />: a reorganisation took block {group(String(event.blockNumber))} off
          the chain.
        </span>
      )}
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
        <h2 id="chain-title">Chain {String(chain.chainId)}</h2>
        <StateMark word={state?.status ?? 'unknown'} tone={tone} />
      </div>
      <dl class="facts">
        <dt>Head</dt>
        <dd class="number">{head === 0 ? '–' : group(String(head))}</dd>
        <dt>Age of the head</dt>
        <dd class="number">
          {state?.lagMs === undefined ? (
            '–'
          ) : (
            <>
              {formatDuration(state.lagMs)}{' '}
              <span class="muted">
                (reported <Age ms={health.value?.readAt} />)
              </span>
            </>
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
