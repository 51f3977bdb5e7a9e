import { useState } from 'preact/hooks'
import type { Chain, PairSummary } from '../../../../gen/aggregator/v1/chain_pb.js'
import { RateChart } from '../components/charts/rate-chart.js'
import { OrderId, SolverLabel } from '../components/id.js'
import { Answer, Empty, Skeleton } from '../components/notice.js'
import { formatFill } from '../components/order-rows.js'
import { Paid } from '../components/paid.js'
import { StateMark } from '../components/state-mark.js'
import { Age } from '../components/time.js'
import { Amount } from '../components/token-amount.js'
import { hrefHere } from '../data/chains.js'
import { kindOf } from '../data/event-kinds.js'
import { connection } from '../data/events.js'
import { addEarlier, type ShownEvent } from '../data/latest-events.js'
import { eventsOf } from '../data/orders/orders.js'
import { useLatestOrders } from '../data/orders/use-latest-orders.js'
import { useReliabilities } from '../data/solvers/reliability.js'
import { usePairs } from '../data/tokens/use-pairs.js'
import { group } from '../format/amount.js'

/** Orders whose events are shown below those of the stream. */
const EARLIER = 40
const PAIRS = 5

/** Everything that happens: the events as they come, what pairs have traded at which rate, and the state of the chain. */
export function MarketPage({ chain }: { readonly chain: Chain }) {
  const { chainId } = chain
  const { orders, listed, events, failure, refresh } = useLatestOrders(chainId)
  const entries = addEarlier(events, listed?.slice(0, EARLIER).flatMap(eventsOf) ?? [])
  return (
    <div class="market">
      <h1 class="visually-hidden">Market</h1>
      <div class="market-side">
        <PairDays chainId={chainId} />
        <PaidOrders chainId={chainId} />
      </div>
      <section class="panel" aria-labelledby="event-list-title">
        <div class="panel-head">
          <h2 id="event-list-title">Events</h2>
          <StateMark
            word={connection.value.state === 'open' ? 'live' : connection.value.state}
            tone={connection.value.state === 'open' ? 'good' : 'waiting'}
          />
        </div>
        <Answer query={{ data: entries.length > 0 ? entries : orders && [], failure, refresh }} lines={8}>
          {(known) =>
            known.length > 0 ? (
              <EventList entries={known} />
            ) : (
              <Empty title="No events yet.">Deposits, fills and refunds appear here as they happen.</Empty>
            )
          }
        </Answer>
      </section>
    </div>
  )
}

/** New lines come at the top. Scrolled down, the browser keeps what is read in its place. */
function EventList({ entries }: { readonly entries: readonly ShownEvent[] }) {
  // A refund itself does not say whose offer was not filled.
  const solverOf = new Map(
    entries.map(({ event }) => [event.orderId, event.solver] as const).filter(([, solver]) => solver),
  )
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a list that scrolls must be reached by the keyboard
    <ol class="event-list" tabIndex={0} aria-label="Events, newest first">
      {entries.map((entry) => (
        <EventLine
          key={`${entry.key} ${entry.removedAt}`}
          entry={entry}
          solver={entry.event.solver ?? solverOf.get(entry.event.orderId)}
        />
      ))}
    </ol>
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
        ) : (
          kind?.ofSolver !== undefined &&
          solver !== undefined && (
            <span>
              {kind.ofSolver} <SolverLabel address={solver} />
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
      {pair !== undefined && <RateChart chainId={chainId} sell={pair.inputToken} buy={pair.outputToken} />}
    </section>
  )
}

const keyOf = ({ inputToken, outputToken }: PairSummary) => `${inputToken} ${outputToken}`
