import type { Chain } from '../../../../gen/aggregator/v1/chain_pb.js'
import { type GetOrderResponse, type Order, OrderState } from '../../../../gen/aggregator/v1/order_pb.js'
import { Fact } from '../components/facts.js'
import { Account, Explorer, Id, SolverLabel } from '../components/id.js'
import { Answer, FromTemplate } from '../components/notice.js'
import { OrderStateMark } from '../components/order-rows.js'
import { Timeline } from '../components/order-timeline.js'
import { Rate } from '../components/rate.js'
import { WhyOffer } from '../components/record-view.js'
import { StateMark } from '../components/state-mark.js'
import { Deadline } from '../components/time.js'
import { Amount } from '../components/token-amount.js'
import { hrefHere } from '../data/chains.js'
import { latestNow } from '../data/clock.js'
import { endOf } from '../data/orders/order-end.js'
import { ownSwap, storedQuote } from '../data/orders/own-swaps.js'
import { readSlashedBond } from '../data/orders/slashed-bond.js'
import { useLatestOrders } from '../data/orders/use-latest-orders.js'
import { useOrder, useQuoteRecord } from '../data/orders/use-order.js'
import { useQuery } from '../data/query.js'
import { AddressDeposit } from './order/address-deposit.js'
import { Amounts } from './order/amounts.js'
import { OwnDeposit } from './order/own-deposit.js'
import { isPast, Refund } from './order/refund.js'
import { SaveQuote } from './swap/deposit-address.js'
import { PriceReference } from './swap/price-reference.js'
import { Compensation } from './swap/what-happens.js'

const REFRESH_MS = 15_000

/** One order: its state, the steps that it has taken, and for a swap of this browser why its offer won. */
export function OrderPage({ chain, id: orderId }: { readonly chain: Chain; readonly id: string }) {
  const order = useOrder(chain.chainId, orderId, REFRESH_MS)
  return (
    <>
      <div class="page-head">
        <h1>
          Order <Id text={orderId} label="order id" />
        </h1>
        <a href={`v1/${chain.chainId}/order/${orderId}`}>JSON</a>
      </div>
      <Answer query={order}>{(data) => <Story chain={chain} order={data} />}</Answer>
    </>
  )
}

interface StoryProps {
  readonly chain: Chain
  readonly order: GetOrderResponse
}

/** What is known of an order, and for a swap of this browser what its user can do. */
function Story({ chain, order }: StoryProps) {
  const { chainId, orderId, state } = order
  const { orders } = useLatestOrders(chainId)
  const swap = ownSwap(chainId, orderId)
  const offer = swap && storedQuote(swap)
  // The auction that led to the order of a swap of this browser.
  const record = useQuoteRecord(chainId, swap?.quoteId).data
  const isKnown = state !== OrderState.NONE
  const isAddress = swap !== undefined && swap.isContract !== true
  // Until then, it is saved beside the deposit address.
  const isDue = isKnown || isPast(offer?.quote?.fillDeadline ?? 0, latestNow.value)
  return (
    <>
      {isKnown && (
        <div class="order">
          <Price {...{ chain, order, orders, isAddress }} />
          <Timeline order={order} record={record} />
        </div>
      )}
      {!isKnown && offer === undefined && <FromTemplate id="no-order" />}
      {offer !== undefined && isAddress && (
        <AddressDeposit key={state} chain={chain} offer={offer} state={state} swap={swap} />
      )}
      {offer !== undefined && swap?.isContract === true && !isKnown && (
        <OwnDeposit chain={chain} offer={offer} swap={swap} />
      )}
      {record && <WhyOffer record={record} />}
      {isAddress && isDue && offer !== undefined && <SaveQuote swap={swap} />}
    </>
  )
}

interface PriceProps extends StoryProps {
  /** The latest ones. */
  readonly orders: readonly Order[] | undefined
  /** Whether it is a swap of this browser by deposit address. */
  readonly isAddress: boolean
}

/** What was given for what, and how the order stands. */
function Price({ order, orders, chain, isAddress }: PriceProps) {
  const { chainId, user, solver, fillDeadline, inputToken: sell = '', outputToken: buy = '' } = order
  const end = endOf(order, isAddress)
  const filledAt = Number(order.settled?.blockTime)
  const isOpen = end === undefined || end === 'filled'
  return (
    <section class="panel" aria-label="Summary">
      <p class="hero-state">
        {end === 'ended' ? (
          <StateMark word="ended without a fill" tone="neutral" />
        ) : (
          <OrderStateMark order={order} />
        )}
      </p>
      <Amounts chainId={chainId} swap={order} end={end}>
        {end === 'refunded' && <Slashed order={order} chain={chain} />}
      </Amounts>
      {end === 'refunded' && (
        <p class="not-paid-story">
          {solver === undefined ? 'The solver' : <SolverLabel address={solver} />} did not pay in time. The
          input and the compensation came back.{' '}
          <a class="button" href={hrefHere('swap', '', { sell, buy })}>
            Swap again
          </a>
        </p>
      )}
      <dl class="fact-row">
        <Fact name={isOpen ? 'Rate' : 'Offered rate'}>
          <Rate chainId={chainId} swap={order} />
        </Fact>
        <Fact name="Solver">{solver === undefined ? '–' : <SolverLabel address={solver} hasAddress />}</Fact>
        <Fact name="Receiver">
          {user === undefined ? '–' : <Account address={user} />}
          {user !== undefined && <Explorer chainId={chainId} kind="address" id={user} />}
        </Fact>
        {end === undefined && fillDeadline !== undefined && (
          <Fact name="Fill deadline">
            <Deadline seconds={fillDeadline} />
          </Fact>
        )}
      </dl>
      {end === 'filled' && (
        <PriceReference
          {...{ chainId }}
          orders={orders?.filter(({ settled }) => Number(settled?.blockTime) < filledAt)}
          swap={order}
        />
      )}
      <OrderRefund order={order} chain={chain} />
    </section>
  )
}

/** What the refund has paid of the solver's bond. */
function Slashed({ order: { chainId, orderId }, chain }: StoryProps) {
  const paid = useQuery(`slashed ${chainId} ${orderId}`, (signal) =>
    readSlashedBond(chainId, orderId, signal),
  )
  return (
    <>
      <dt>Compensation</dt>
      <dd>
        <Amount chainId={chainId} address={chain.bondToken?.address ?? ''} amount={paid.data} isShort />
        <span class="muted bond-note">in the solver's bond token, price not known</span>
      </dd>
    </>
  )
}

/** After the fill deadline, anyone may return the input to the user. */
function OrderRefund({ order, chain }: StoryProps) {
  const { orderId, state, fillDeadline = 0 } = order
  if (state !== OrderState.DEPOSITED || !isPast(fillDeadline, latestNow.value)) return null
  return (
    <Refund refund={({ refundOrder }) => refundOrder(chain, orderId)}>
      <p>
        The order was not filled in time. A refund returns the input, with{' '}
        <Compensation chain={chain} output={BigInt(order.outputAmount ?? 0)} />.
      </p>
    </Refund>
  )
}
