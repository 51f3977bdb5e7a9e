import type { Chain } from '../../../../gen/aggregator/v1/chain_pb.js'
import { type GetOrderResponse, OrderState } from '../../../../gen/aggregator/v1/order_pb.js'
import { Fact } from '../components/facts.js'
import { SearchBox } from '../components/header.js'
import { Account, Explorer, Id, SolverLabel } from '../components/id.js'
import { Answer, FromTemplate } from '../components/notice.js'
import { OrderStateMark } from '../components/order-rows.js'
import { Timeline } from '../components/order-timeline.js'
import { Rate } from '../components/rate.js'
import { WhyOffer } from '../components/record-view.js'
import { StateMark } from '../components/state-mark.js'
import { Age } from '../components/time.js'
import { Amount, BondAmount } from '../components/token-amount.js'
import { hrefHere } from '../data/chains.js'
import { latestNow } from '../data/clock.js'
import { endOf, type OrderEnd } from '../data/orders/order-end.js'
import { ownSwap, storedQuote } from '../data/orders/own-swaps.js'
import { readSlashedBond } from '../data/orders/slashed-bond.js'
import { useLatestOrders } from '../data/orders/use-latest-orders.js'
import { useOrder, useQuoteRecord } from '../data/orders/use-order.js'
import { useQuery } from '../data/query.js'
import { formatBps } from '../format/amount.js'
import { formatSpan } from '../format/time.js'
import { AddressDeposit } from './order/address-deposit.js'
import { Amounts } from './order/amounts.js'
import { OwnDeposit } from './order/own-deposit.js'
import { isPast, Refund } from './order/refund.js'
import { SaveQuote } from './swap/deposit-address.js'
import { lastFill } from './swap/price-reference.js'
import { Compensation } from './swap/what-happens.js'

const REFRESH_MS = 15_000

/** One order: its state, the steps that it has taken, and for a swap of this browser why its offer won. */
export function OrderPage({ chain, id: orderId }: { readonly chain: Chain; readonly id: string }) {
  const order = useOrder(chain.chainId, orderId, REFRESH_MS)
  const swap = ownSwap(chain.chainId, orderId)
  const isLost = order.data?.state === OrderState.NONE && (swap && storedQuote(swap)) === undefined
  return (
    <>
      <div class="page-head">
        <h1>Order {isLost ? 'not found' : <Id text={orderId} label="order id" />}</h1>
        {isLost || <a href={`v1/${chain.chainId}/order/${orderId}`}>JSON</a>}
      </div>
      <Answer query={order}>
        {(data) => (isLost ? <Lost {...{ chain, order }} /> : <Story chain={chain} order={data} />)}
      </Answer>
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
          <Price {...{ chain, order }} end={endOf(order, isAddress)} />
          <Timeline order={order} record={record} />
        </div>
      )}
      {offer && isAddress && <AddressDeposit key={state} {...{ chain, offer, state, swap }} />}
      {offer && swap && !isAddress && !isKnown && <OwnDeposit {...{ chain, offer, swap }} />}
      {record && <WhyOffer record={record} taken={order.solver} />}
      {offer && isAddress && isDue && <SaveQuote swap={swap} />}
    </>
  )
}

/** An id that the contract does not know: what that can mean, and what to do in each case. */
function Lost({ chain, order }: { readonly chain: Chain; readonly order: ReturnType<typeof useOrder> }) {
  return (
    <div class="lost-order">
      <code>{order.data?.orderId}</code>
      <p>The contract on {chain.name} has no order of this id. What to do depends on what you did:</p>
      <FromTemplate id="wrong-id">
        <SearchBox />
      </FromTemplate>
      <FromTemplate id="just-sent">
        <button type="button" onClick={order.refresh}>
          Look again
        </button>{' '}
        Last look: <Age ms={order.updatedAt} />
      </FromTemplate>
      <FromTemplate id="to-address" />
      <nav aria-label="Where to go">
        <a href={hrefHere('orders')}>Orders</a> <a href="help">How a swap works</a>
      </nav>
    </div>
  )
}

/** What was given for what, and how the order stands. */
function Price({ order, chain, end }: StoryProps & { readonly end: OrderEnd | undefined }) {
  const { chainId, user = '', solver = '', outputChainId = chainId } = order
  const { inputToken: sell = '', outputToken: buy = '' } = order
  const filledAt = Number(order.settled?.blockTime)
  const { orders } = useLatestOrders(chainId)
  const before = lastFill({ chainId, orders, swap: order, until: filledAt })
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
          <SolverLabel address={solver} /> did not pay in time. The user has the input back, and a
          compensation.{' '}
          <a class="button" href={hrefHere('swap', '', { sell, buy })}>
            Swap again
          </a>
        </p>
      )}
      <dl class="fact-row">
        <Fact name={isOpen ? 'Rate' : 'Offered rate'}>
          <Rate chainId={chainId} swap={order} isExact />
        </Fact>
        {order.settled && (before ?? !orders) && (
          <Fact name="Previous fill">
            {before
              ? `${before.words}, ${formatSpan((filledAt - before.at) * 1000)} earlier; this one ${formatBps(before.bps)}`
              : '…'}
          </Fact>
        )}
        {isOpen && (
          <Fact name="Quoted">
            <Amount chainId={outputChainId} address={buy} amount={order.outputAmount} isExact />
            {end ? ', paid in full' : ', or nothing'}
          </Fact>
        )}
        <Fact name="Solver">
          <SolverLabel address={solver} hasAddress />
        </Fact>
        <Fact name="User and receiver">
          <Account address={user} /> <Explorer chainId={chainId} kind="address" id={user} />
        </Fact>
      </dl>
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
        <BondAmount chain={chain} amount={paid.data} />
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
