import { useRef, useState } from 'preact/hooks'
import type { Chain } from '../../../../gen/aggregator/v1/chain_pb.js'
import { OrderState } from '../../../../gen/aggregator/v1/order_pb.js'
import { Answer, Empty } from '../components/notice.js'
import { NoOrders, OrderRows } from '../components/order-rows.js'
import { useFocusAfter } from '../components/use-focus-after.js'
import { hrefHere } from '../data/chains.js'
import { listOrders, STATE_WORDS } from '../data/orders/orders.js'
import { useQuery } from '../data/query.js'
import { navigate, route } from '../data/route.js'
import { solverName } from '../data/solvers/solvers.js'
import { shorten } from '../format/shorten.js'

const PAGE_SIZE = 25
const EVENT_PAUSE_MS = 2000
const STATES = [OrderState.DEPOSITED, OrderState.SETTLED, OrderState.REFUNDED] as const

interface Filters {
  readonly user: string | undefined
  readonly solver: string | undefined
  readonly state: string | undefined
}

/** The orders of a chain. Filters and page are in the URL, so that a link shows the same. */
export function OrdersPage({ chain }: { readonly chain: Chain }) {
  const { chainId } = chain
  const { query } = route.value
  const filters: Filters = {
    user: query.get('user') ?? undefined,
    solver: query.get('solver') ?? undefined,
    // An old link may have a state that does not exist.
    state: Object.values(STATE_WORDS).find((word) => word === query.get('state')),
  }
  const pageToken = query.get('page') ?? undefined
  const state = STATES.find((each) => STATE_WORDS[each] === filters.state)
  const key = JSON.stringify([String(chainId), filters, pageToken])
  const { user, solver } = filters
  const title = useRef<HTMLHeadingElement>(null)
  // The link to another page is gone, and so is the chip of a filter that was removed.
  useFocusAfter(title, key)
  const orders = useQuery(
    `orders ${key}`,
    (signal) => listOrders(chainId, { user, solver, state, pageSize: PAGE_SIZE, pageToken }, signal),
    {
      refreshOn: (event) => pageToken === undefined && BigInt(event.chainId) === chainId,
      eventPauseMs: EVENT_PAUSE_MS,
    },
  )
  const isFiltered = user !== undefined || solver !== undefined || state !== undefined
  return (
    <>
      <div class="page-head">
        <h1 ref={title} tabIndex={-1}>
          Orders
        </h1>
        <FilterBar filters={filters} />
      </div>
      <Answer query={orders} lines={10}>
        {({ orders }) =>
          orders.length > 0 ? (
            <OrderRows orders={orders} />
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
        {pageToken !== undefined && <a href={hrefHere('orders', '', { ...filters })}>← newest</a>}
        {orders.data !== undefined && orders.data.nextPageToken !== '' && (
          <a
            class="pages-next"
            href={hrefHere('orders', '', { ...filters, page: orders.data.nextPageToken })}
          >
            older →
          </a>
        )}
      </nav>
    </>
  )
}

function FilterBar({ filters }: { readonly filters: Filters }) {
  const { user, solver, state } = filters
  const without = (name: keyof Filters) => hrefHere('orders', '', { ...filters, [name]: undefined })
  return (
    <div class="filters">
      {user !== undefined && <Chip label={`user ${shorten(user)}`} title={user} href={without('user')} />}
      {solver !== undefined && (
        <Chip
          label={`solver ${shorten(solver)}`}
          name={solverName(solver)}
          title={solver}
          href={without('solver')}
        />
      )}
      {state !== undefined && <Chip label={state} title={state} href={without('state')} />}
      {state === undefined && (
        <select
          aria-label="Filter by state"
          value=""
          onChange={({ currentTarget }) =>
            navigate(hrefHere('orders', '', { ...filters, state: currentTarget.value }))
          }
        >
          <option value="">+ state</option>
          {STATES.map((each) => (
            <option key={each} value={STATE_WORDS[each]}>
              {STATE_WORDS[each]}
            </option>
          ))}
        </select>
      )}
      {(user === undefined || solver === undefined) && <AddressFilter filters={filters} />}
    </div>
  )
}

interface ChipProps {
  readonly label: string
  readonly name?: string | undefined
  readonly title: string
  readonly href: string
}

function Chip({ label, name, title, href }: ChipProps) {
  return (
    <a
      class="chip"
      href={href}
      title={`${title}: remove this filter`}
      aria-label={`Remove the filter ${label}`}
    >
      {label}
      {name !== undefined && <bdi class="chip-name">{name}</bdi>}
      <span aria-hidden="true">×</span>
    </a>
  )
}

function AddressFilter({ filters }: { readonly filters: Filters }) {
  const [isWrong, setWrong] = useState(false)
  const add = (event: Event) => {
    event.preventDefault()
    const { elements } = event.currentTarget as HTMLFormElement
    const field = elements.namedItem('address') as HTMLInputElement
    const address = field.value.trim()
    const role = (elements.namedItem('role') as HTMLSelectElement).value
    const isAddress = /^0x[0-9a-f]{40}$/i.test(address)
    setWrong(!isAddress)
    if (!isAddress) return
    field.value = ''
    navigate(hrefHere('orders', '', { ...filters, [role]: address }))
  }
  const roles = (['user', 'solver'] as const).filter((role) => filters[role] === undefined)
  return (
    <form class="address-filter" onSubmit={add}>
      <select name="role" aria-label="Filter by" hidden={roles.length === 1}>
        {roles.map((role) => (
          <option key={role}>{role}</option>
        ))}
      </select>
      <input
        name="address"
        enterkeyhint="search"
        placeholder={roles.length === 1 ? `${roles[0]} 0x…` : '0x…'}
        aria-label="Address to filter by"
        aria-invalid={isWrong}
        autocomplete="off"
        spellcheck={false}
        onInput={() => setWrong(false)}
      />
    </form>
  )
}
