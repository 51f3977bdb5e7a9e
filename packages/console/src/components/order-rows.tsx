import { type Order, OrderState } from '../../../../gen/aggregator/v1/order_pb.js'
import { hrefOn } from '../data/chains.js'
import { STATE_WORDS, timeToFill } from '../data/orders.js'
import { shorten } from '../format/shorten.js'
import { formatDuration } from '../format/time.js'
import { Account, OrderId, SolverLabel } from './id.js'
import { LinkRow, Rows } from './rows.js'
import { StateMark, type Tone } from './state-mark.js'
import { Age } from './time.js'
import { Amount } from './token-amount.js'

const TONES: Readonly<Record<OrderState, Tone>> = {
  [OrderState.UNSPECIFIED]: 'neutral',
  [OrderState.NONE]: 'neutral',
  [OrderState.DEPOSITED]: 'waiting',
  [OrderState.SETTLED]: 'good',
  [OrderState.REFUNDED]: 'bad',
}

/** The state of an order. */
export const OrderStateMark = ({ state }: { readonly state: OrderState }) => (
  <StateMark word={STATE_WORDS[state] ?? 'other'} tone={TONES[state] ?? 'neutral'} />
)

/** A table of orders. @param isCompact leaves out what a narrow column has no room for */
export function OrderRows({
  orders,
  isCompact = false,
}: {
  readonly orders: readonly Order[]
  readonly isCompact?: boolean
}) {
  return (
    <Rows
      caption="Orders"
      head={
        <>
          <th>Age</th>
          <th class="right">Sells</th>
          <th class="right">Buys</th>
          {!isCompact && <th>User</th>}
          {!isCompact && <th>Solver</th>}
          <th>State</th>
          {!isCompact && <th class="right">Time to fill</th>}
          {!isCompact && <th>Order</th>}
        </>
      }
    >
      {orders.map((order) => (
        <OrderRow key={order.orderId} order={order} isCompact={isCompact} />
      ))}
    </Rows>
  )
}

function OrderRow({ order, isCompact }: { readonly order: Order; readonly isCompact: boolean }) {
  const { orderId, chainId, state, user, solver, inputToken, inputAmount, outputToken, outputAmount } = order
  const first = order.deposited ?? order.settled ?? order.refunded
  const fill = timeToFill(order)
  return (
    <LinkRow
      href={hrefOn(chainId, 'order', orderId)}
      label={`Order ${shorten(orderId)}, ${STATE_WORDS[state] ?? 'other'}`}
    >
      <td class="first" data-label="Age">
        <Age ms={first?.blockTime === undefined ? undefined : Number(first.blockTime) * 1000} />
      </td>
      <td class="right" data-label="Sells">
        {inputToken ? <Amount chainId={chainId} address={inputToken} amount={inputAmount} /> : '–'}
      </td>
      <td class="right" data-label="Buys">
        {outputToken ? <Amount chainId={chainId} address={outputToken} amount={outputAmount} /> : '–'}
      </td>
      {!isCompact && (
        <td data-label="User">
          <Account address={user} />
        </td>
      )}
      {!isCompact && <td data-label="Solver">{solver ? <SolverLabel address={solver} /> : '–'}</td>}
      <td class="first" data-label="State">
        <OrderStateMark state={state} />
      </td>
      {!isCompact && (
        <td class="right number" data-label="Time to fill">
          {fill === undefined ? '–' : fill === 0 ? '<1 s' : formatDuration(fill)}
        </td>
      )}
      {!isCompact && (
        <td data-label="Order">
          <OrderId id={orderId} />
        </td>
      )}
    </LinkRow>
  )
}
