import type { ComponentChildren } from 'preact'
import { type GetOrderResponse, type Order, OrderState } from '../../../../gen/aggregator/v1/order_pb.js'
import { hrefHere, hrefOn } from '../data/chains.js'
import { firstStep, timeOf } from '../data/orders/latest-orders.js'
import { STATE_WORDS, timeToFill } from '../data/orders/orders.js'
import { tokenOf } from '../data/tokens/tokens.js'
import { formatRate } from '../format/amount.js'
import { shorten } from '../format/shorten.js'
import { formatDuration } from '../format/time.js'
import { Account, OrderId, SolverLabel } from './id.js'
import { Empty, Skeleton } from './notice.js'
import { LinkRow, Rows } from './rows.js'
import { StateMark, type Tone } from './state-mark.js'
import { Age } from './time.js'
import { Amount } from './token-amount.js'

const TONES: Readonly<Record<OrderState, Tone>> = {
  [OrderState.UNSPECIFIED]: 'neutral',
  [OrderState.NONE]: 'bad',
  [OrderState.DEPOSITED]: 'waiting',
  [OrderState.SETTLED]: 'good',
  [OrderState.REFUNDED]: 'back',
}

type OrderStanding = Pick<GetOrderResponse, 'state' | 'deposited' | 'settled' | 'isRefundable'>

/** The state of an order, with the time of its fill. The contract has no event of a transfer, from which that time would count. */
export function OrderStateMark({ order }: { readonly order: OrderStanding }) {
  const { state, isRefundable, deposited, settled } = order
  if (isRefundable) return <StateMark word="refund possible" tone="bad" />
  const way = settled !== undefined && deposited === undefined ? ' after a transfer' : ''
  const fillMs = timeToFill(order)
  const time = fillMs === undefined ? way : ` in ${formatFill(fillMs)}`
  return <StateMark word={`${STATE_WORDS[state] ?? 'other'}${time}`} tone={TONES[state] ?? 'neutral'} />
}

/** What stands in the place of orders while there are none. */
export const NoOrders = () => (
  <Empty title="No orders yet.">
    <a href={hrefHere('swap')}>Run a swap</a>, or point a solver here.
  </Empty>
)

interface OrdersPanelProps extends Omit<OrderRowsProps, 'orders'> {
  readonly title: string
  /** Leads to more of them. */
  readonly href: string
  /** Undefined before they are read. */
  readonly orders: readonly Order[] | undefined
  /** Stands above them. */
  readonly children?: ComponentChildren
}

/** A few orders in a panel of their own. */
export const OrdersPanel = ({ title, href, orders, children, ...shown }: OrdersPanelProps) => (
  <section class="panel" aria-label={title}>
    <div class="panel-head">
      <h2>{title}</h2>
      <a href={href}>All</a>
    </div>
    {children}
    {orders === undefined && <Skeleton />}
    {orders?.length === 0 && <NoOrders />}
    {orders !== undefined && orders.length > 0 && <OrderRows orders={orders} {...shown} />}
  </section>
)

/** Times of blocks have whole seconds. */
export const formatFill = (ms: number | undefined) =>
  ms !== undefined && ms < 1000 ? '<1 s' : formatDuration(ms)

interface OrderRowsProps {
  readonly orders: readonly Order[]
  /** Leaves out what all orders have in common, or what a narrow place has no room for. */
  readonly without?: 'user' | 'solver'
  /** Ids of orders that have changed while they were shown. */
  readonly fresh?: ReadonlySet<string>
}

/** Orders, each told in a line: what for what, how it ended, by whom and when. */
export function OrderRows({ orders, without, fresh }: OrderRowsProps) {
  return (
    <div class="stories">
      <Rows
        caption="Orders"
        head={
          <>
            <th>Order</th>
            <th class="right">Sold</th>
            <th class="right">Bought</th>
            <th class="right story-rate">Rate, for 1 sold</th>
            <th>State</th>
            {without !== 'solver' && <th>Solver</th>}
            {without !== 'user' && <th class="story-user">User</th>}
            <th class="right">Age</th>
          </>
        }
      >
        {orders.map((order) => (
          <OrderRow
            key={order.orderId}
            order={order}
            without={without}
            isFresh={fresh?.has(order.orderId) === true}
          />
        ))}
      </Rows>
    </div>
  )
}

/** What one whole token has brought; empty before it has. */
export function rateOf(order: Order) {
  const { state, chainId, inputToken = '', inputAmount, outputToken = '', outputAmount } = order
  const [sold, bought] = [tokenOf(chainId, inputToken), tokenOf(chainId, outputToken)]
  if (state !== OrderState.SETTLED) return ''
  return formatRate(BigInt(inputAmount ?? 0), BigInt(outputAmount ?? 0), sold?.decimals, bought?.decimals)
}

interface OrderRowProps {
  readonly order: Order
  readonly without: OrderRowsProps['without']
  readonly isFresh: boolean
}

function OrderRow({ order, without, isFresh }: OrderRowProps) {
  const { orderId, chainId, state, user, solver, inputToken, inputAmount, outputToken, outputAmount } = order
  const isSettled = state === OrderState.SETTLED
  const amountOf = (token: string | undefined, amount: string | undefined) =>
    token ? <Amount chainId={chainId} address={token} amount={amount} isShort /> : '–'
  return (
    <LinkRow
      href={hrefOn(chainId, 'order', orderId)}
      isFresh={isFresh}
      label={`Order ${shorten(orderId)}, ${STATE_WORDS[state] ?? 'other'}`}
    >
      <td class="story-order">
        <OrderId id={orderId} />
      </td>
      <td class="right">{amountOf(inputToken, inputAmount)}</td>
      <td class={`story-bought right ${isSettled ? '' : 'muted'}`}>
        <span class="story-arrow muted" aria-hidden="true">
          →{' '}
        </span>
        {isSettled || <span class="story-offered">promised </span>}
        {amountOf(outputToken, outputAmount)}
      </td>
      <td class="right number story-rate">{rateOf(order)}</td>
      <td class={state === OrderState.NONE ? 'story-more removed' : 'story-more'}>
        <OrderStateMark order={order} />
      </td>
      {without !== 'solver' && <td class="story-more">{solver ? <SolverLabel address={solver} /> : '–'}</td>}
      {without !== 'user' && (
        <td class="story-user">
          <Account address={user} />
        </td>
      )}
      <td class="story-age right">
        <Age ms={timeOf(firstStep(order))} />
      </td>
    </LinkRow>
  )
}
