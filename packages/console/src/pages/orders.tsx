import { useRef } from 'preact/hooks'
import type { Chain } from '../../../../gen/aggregator/v1/chain_pb.js'
import { type Order, OrderState } from '../../../../gen/aggregator/v1/order_pb.js'
import { Answer, Empty } from '../components/notice.js'
import { NoOrders, OrderRows } from '../components/order-rows.js'
import { Paid } from '../components/paid.js'
import { Segments } from '../components/segments.js'
import { useFocusAfter } from '../components/use-focus-after.js'
import { hrefHere } from '../data/chains.js'
import { listOrders, STATE_WORDS } from '../data/orders/orders.js'
import { useQuery } from '../data/query.js'
import { navigate, route } from '../data/route.js'
import { solverName } from '../data/solvers/solvers.js'
import { useSolverStats } from '../data/solvers/stats.js'
import { isOfPair } from '../data/tokens/pairs.js'
import { tokenOf } from '../data/tokens/tokens.js'
import { usePairs } from '../data/tokens/use-pairs.js'
import { shorten } from '../format/shorten.js'

const PAGE_SIZE = 25
/** The instance lists no pair: the console looks through as many orders as a page may have. */
const MOST = 200
const EVENT_PAUSE_MS = 2000
const STATES = [OrderState.DEPOSITED, OrderState.SETTLED, OrderState.REFUNDED] as const

type Filters = Readonly<Record<'user' | 'solver' | 'state' | 'pair', string | undefined>>

/** The orders of a chain. Filters and page are in the URL, so that a link shows the same. */
export function OrdersPage({ chain }: { readonly chain: Chain }) {
  const { chainId } = chain
  const { query } = route.value
  const names = ['user', 'solver', 'page', 'pair']
  const [user, solver, pageToken, pair] = names.map((name) => query.get(name) ?? undefined)
  // An old link may have a state that does not exist.
  const state = STATES.find((each) => STATE_WORDS[each] === query.get('state'))
  const filters: Filters = { user, solver, state: state && STATE_WORDS[state], pair }
  const key = JSON.stringify([String(chainId), filters, pageToken])
  const title = useRef<HTMLHeadingElement>(null)
  // The link to another page is gone, and so is the chip of a filter that was removed.
  useFocusAfter(title, key)
  const orders = useQuery(
    `orders ${key}`,
    (signal) =>
      listOrders(
        chainId,
        { user, solver, state, pageToken, pageSize: pair === undefined ? PAGE_SIZE : MOST },
        signal,
      ),
    {
      refreshOn: (event) => pageToken === undefined && BigInt(event.chainId) === chainId,
      eventPauseMs: EVENT_PAUSE_MS,
    },
  )
  const { nextPageToken = '' } = orders.data ?? {}
  const isFiltered = [user, solver, state, pair].some((filter) => filter !== undefined)
  const [sell = '', buy = ''] = pair?.split('-') ?? []
  const isShown = (order: Order) => pair === undefined || isOfPair(order, sell, buy)
  return (
    <>
      <div class="page-head">
        <h1 ref={title} tabIndex={-1}>
          Orders
        </h1>
        <Day chainId={chainId} />
        <FilterBar chainId={chainId} filters={filters} />
      </div>
      <Answer query={orders}>
        {({ orders }) =>
          orders.some(isShown) ? (
            <OrderRows
              orders={orders
                .filter(isShown)
                .toSorted((a, b) => Number(b.isRefundable) - Number(a.isRefundable))}
            />
          ) : isFiltered ? (
            <Empty title="No orders match these filters.">
              <a href={hrefHere('orders')}>Show all orders</a>
            </Empty>
          ) : (
            <NoOrders />
          )
        }
      </Answer>
      <nav class="pages" aria-label="Pages of orders">
        {pageToken !== undefined && <a href={hrefHere('orders', '', { ...filters })}>← Newest</a>}
        {nextPageToken !== '' && (
          <a class="pages-next" href={hrefHere('orders', '', { ...filters, page: nextPageToken })}>
            Older →
          </a>
        )}
      </nav>
    </>
  )
}

/** How many orders of a day were paid: a page of the list may show none of the others. */
function Day({ chainId }: { readonly chainId: bigint }) {
  const { data } = useSolverStats(chainId, '24h')
  const paid = data?.solvers.reduce((sum, { settled }) => sum + settled, 0n) ?? 0n
  const ended = data?.solvers.reduce((sum, { refunded }) => sum + refunded, paid) ?? 0n
  return (
    <p class="day">
      <Paid of={data && { paid, ended }} isDay />
    </p>
  )
}

function FilterBar({ chainId, filters }: { readonly chainId: bigint; readonly filters: Filters }) {
  const pairs = usePairs(chainId).data?.pairs.filter(({ listed }) => listed) ?? []
  const change = (changes: Partial<Filters>) => hrefHere('orders', '', { ...filters, ...changes })
  return (
    <div class="filters">
      {(['user', 'solver'] as const).map((name) => {
        const address = filters[name]
        if (address === undefined) return null
        const label = `${name} ${shorten(address)}`
        return (
          <a
            key={name}
            class="chip"
            href={change({ [name]: undefined })}
            title={`${address}: remove this filter`}
            aria-label={`Remove the filter ${label}`}
          >
            {label} <bdi class="chip-name">{name === 'solver' && solverName(address)}</bdi>
            <span aria-hidden="true">×</span>
          </a>
        )
      })}
      <select
        aria-label="Pair"
        value={filters.pair ?? ''}
        onChange={({ currentTarget }) => navigate(change({ pair: currentTarget.value || undefined }))}
      >
        <option value="">All pairs</option>
        {pairs.map(({ inputToken, outputToken }) => (
          <option key={inputToken + outputToken} value={`${inputToken}-${outputToken}`}>
            {[inputToken, outputToken].map((token) => tokenOf(chainId, token)?.symbol).join(' → ')}
          </option>
        ))}
      </select>
      <Segments
        label="State of the orders"
        items={['all', ...STATES.map((each) => STATE_WORDS[each])].map((word) => [
          word,
          change({ state: word === 'all' ? undefined : word }),
        ])}
        chosen={filters.state ?? 'all'}
      />
    </div>
  )
}
