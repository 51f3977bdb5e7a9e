import { useRef } from 'preact/hooks'
import type { Order } from '../../../../../gen/aggregator/v1/order_pb.js'
import { latestEvents } from '../events.js'
import { type Query, useQuery } from '../query.js'
import type { OrderEvent } from '../stream-messages.js'
import { needsList, withEvents } from './latest-orders.js'
import { listOrders } from './orders.js'

const LISTED = 200
/** Time between two lists that events cause. They do so when an event does not have the amounts of its order. */
const LIST_PAUSE_MS = 5000
/** More than the list of events has, so that none of its deposits is taken for a new one. */
const KEPT = 300

interface LatestOrders extends Pick<Query<unknown>, 'failure' | 'refresh'> {
  /** Newest first; undefined before the first answer. */
  readonly orders: readonly Order[] | undefined
  /** The events of the chain since the console was opened. */
  readonly events: readonly OrderEvent[]
}

/** The latest orders of a chain, which the stream of events keeps fresh: few lists are read. */
export function useLatestOrders(chainId: bigint): LatestOrders {
  const known = useRef<ReadonlySet<string>>(new Set())
  const state = useRef<{ listed: readonly Order[] | undefined; orders: readonly Order[] } | undefined>(
    undefined,
  )
  const { data, failure, refresh } = useQuery(
    `orders ${chainId} latest`,
    (signal) => listOrders(chainId, { pageSize: LISTED }, signal),
    {
      refreshOn: (event) =>
        BigInt(event.chainId) === chainId && needsList(event, known.current, latestEvents.peek()),
      eventPauseMs: LIST_PAUSE_MS,
    },
  )
  const listed = data?.orders
  const events = latestEvents.value.filter((event) => BigInt(event.chainId) === chainId)
  if (state.current === undefined || state.current.listed !== listed)
    state.current = { listed, orders: listed ?? [] }
  // Also those orders stay that neither the list nor the list of events has any more.
  state.current.orders = withEvents(state.current.orders, events).slice(0, KEPT)
  known.current = new Set(state.current.orders.map(({ orderId }) => orderId))
  return { orders: listed && state.current.orders, events, failure, refresh }
}
