import type { Chain } from '../../../../gen/aggregator/v1/chain_pb.js'
import { type GetOrderResponse, OrderState } from '../../../../gen/aggregator/v1/order_pb.js'
import type { GetQuoteRecordResponse } from '../../../../gen/aggregator/v1/quote_pb.js'
import { Fact } from '../components/facts.js'
import { Account, Explorer, Id, SolverLabel } from '../components/id.js'
import { Answer, Empty } from '../components/notice.js'
import { OrderStateMark } from '../components/order-rows.js'
import { Timeline } from '../components/order-timeline.js'
import { Bps } from '../components/ranking.js'
import { Rate } from '../components/rate.js'
import { RecordView } from '../components/record-view.js'
import { StateMark } from '../components/state-mark.js'
import { Term } from '../components/term.js'
import { Deadline, Moment } from '../components/time.js'
import { Amount } from '../components/token-amount.js'
import { isExactInput, readAttempts, surplusBps } from '../data/auction/auction.js'
import { chainName, hrefHere } from '../data/chains.js'
import { latestNow } from '../data/clock.js'
import { endOf } from '../data/orders/order-end.js'
import { orderJson, timeToFill } from '../data/orders/orders.js'
import { ownSwap, storedQuote } from '../data/orders/own-swaps.js'
import { readSlashedBond } from '../data/orders/slashed-bond.js'
import { useOrder, useQuoteRecord } from '../data/orders/use-order.js'
import { useQuery } from '../data/query.js'
import { AddressDeposit } from './order/address-deposit.js'
import { OwnDeposit } from './order/own-deposit.js'
import { isPast, Refund } from './order/refund.js'
import { BondAmount, Compensation } from './swap/what-happens.js'

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
      </div>
      <Answer query={order} lines={8}>
        {(data) => <Story chain={chain} order={data} />}
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
  const quoteId = swap?.quoteId
  const offer = swap && storedQuote(swap)
  const record = useQuoteRecord(chainId, quoteId)
  // The auction that led to the order of a swap of this browser.
  const why = quoteId !== undefined && (
    <section class="panel" aria-labelledby="why-title">
      <div class="panel-head">
        <h2 id="why-title">Why this offer</h2>
        {record.data !== undefined && <a href={hrefHere('quote', quoteId)}>Whole record</a>}
      </div>
      <Answer query={record} lines={5}>
        {(data) => <RecordView chain={chain} record={data} />}
      </Answer>
    </section>
  )
  const isKnown = state !== OrderState.NONE
  const isAddress = swap !== undefined && swap.isContract !== true
  return (
    <>
      {isKnown ? (
        <>
          <div class="order">
            <Price order={order} chain={chain} record={record.data} isAddress={isAddress} />
            <Timeline order={order} record={record.data} />
          </div>
          {why}
        </>
      ) : (
        offer === undefined && (
          <Empty title="The contract does not know this order.">
            It appears here once its deposit is mined. An order by address deposit appears once it is settled.
          </Empty>
        )
      )}
      {offer !== undefined && isAddress && (
        <AddressDeposit key={state} chain={chain} offer={offer} state={state} swap={swap} />
      )}
      {offer !== undefined && swap?.isContract === true && !isKnown && (
        <OwnDeposit chain={chain} offer={offer} swap={swap} />
      )}
      {!isKnown && why}
      {isKnown && <Raw name="JSON" text={orderJson(order)} />}
      {isAddress && swap.signedQuote !== undefined && (
        <Raw name="Signed quote, which a refund needs" text={JSON.stringify(swap.signedQuote, null, 2)} />
      )}
    </>
  )
}

const Raw = ({ name, text }: { readonly name: string; readonly text: string }) => (
  <details class="raw">
    <summary>{name}</summary>
    <pre>{text}</pre>
  </details>
)

/** What happened to the two sides, once the order has ended. */
const SIDES = {
  filled: ['Sold', 'Bought'],
  refunded: ['Returned', 'Offered'],
  ended: ['To sell', 'Offered'],
} as const

interface PriceProps {
  readonly order: GetOrderResponse
  readonly chain: Chain
  /** The record of the quote, where the visitor may see it. */
  readonly record: GetQuoteRecordResponse | undefined
  /** Whether it is a swap of this browser by deposit address. */
  readonly isAddress: boolean
}

/** What was given for what, how good that was, and how the order stands. */
function Price({ order, chain, record, isAddress }: PriceProps) {
  const { chainId, inputToken = '', inputAmount, outputToken = '', outputAmount, outputChainId } = order
  const end = endOf(order, isAddress)
  const [sells, buys] = end === undefined ? ['Sells', 'Buys'] : SIDES[end]
  const outputOn = outputChainId ?? chainId
  return (
    <section class="panel" aria-label="Summary">
      {end === 'refunded' && <NotPaid order={order} chain={chain} />}
      <div class="hero">
        <dl class="hero-amounts">
          <dt>{sells}</dt>
          <dd>
            <Amount chainId={chainId} address={inputToken} amount={inputAmount} />
          </dd>
          <dt>{buys}</dt>
          <dd class={buys === 'Offered' ? 'not-paid' : ''}>
            <Amount chainId={outputOn} address={outputToken} amount={outputAmount} />
            {outputOn !== chainId && <span class="muted"> on {chainName(outputOn)}</span>}
          </dd>
        </dl>
        <p class="hero-state">
          {end === 'ended' ? (
            <StateMark word="ended without a fill" tone="neutral" />
          ) : (
            <OrderStateMark state={order.state} fillMs={timeToFill(order)} />
          )}
        </p>
      </div>
      <dl class="fact-row">
        <Fact name={buys === 'Offered' ? 'Offered rate' : 'Rate'}>
          <Rate
            chainId={chainId}
            outputChainId={outputOn}
            inputToken={inputToken}
            outputToken={outputToken}
            input={BigInt(inputAmount ?? 0)}
            output={BigInt(outputAmount ?? 0)}
          />
        </Fact>
        {record !== undefined && end !== 'refunded' && end !== 'ended' && <Surplus record={record} />}
        <Details order={order} />
      </dl>
      <OrderRefund order={order} chain={chain} />
    </section>
  )
}

/** How much better the best offer was than the next one, in basis points and in the token. */
function Surplus({ record }: { readonly record: GetQuoteRecordResponse }) {
  const attempts = readAttempts(record)
  const bps = surplusBps(attempts)
  const [best, next] = [1, 2].map((rank) => attempts.find((attempt) => attempt.rank === rank)?.amount)
  if (bps === undefined || best === undefined || next === undefined) return null
  const isInput = isExactInput(record)
  const gained = best > next ? best - next : next - best
  const token = (isInput ? record.request?.outputToken : record.request?.inputToken) ?? ''
  return (
    <Fact name={<Term name="Surplus over the next offer" />}>
      <Bps bps={bps} /> · <Amount chainId={record.chainId} address={token} amount={gained} />
    </Fact>
  )
}

/** Who did not pay, until when, and what the refund has given to whom. */
function NotPaid({ order, chain }: { readonly order: GetOrderResponse; readonly chain: Chain }) {
  const {
    chainId,
    orderId,
    solver,
    user = '',
    fillDeadline,
    inputToken = '',
    inputAmount,
    outputToken,
  } = order
  const paid = useQuery(`slashed ${chainId} ${orderId}`, (signal) =>
    readSlashedBond(chainId, orderId, signal),
  )
  return (
    <p class="not-paid-story">
      {solver === undefined ? 'The solver' : <SolverLabel address={solver} />} did not pay
      {fillDeadline !== undefined && (
        <>
          {' '}
          by <Moment seconds={fillDeadline} />
        </>
      )}
      . <Account address={user} /> has{' '}
      <Amount chainId={chainId} address={inputToken} amount={inputAmount} isShort /> back
      {paid.data !== undefined && (
        <>
          , and <BondAmount chain={chain} amount={paid.data} /> of the solver's bond as compensation
        </>
      )}
      . <a href={hrefHere('swap', '', { sell: inputToken, buy: outputToken })}>Swap again</a>
    </p>
  )
}

/** Who and where, and until when. */
function Details({ order }: { readonly order: GetOrderResponse }) {
  const { chainId, user, solver, fillDeadline, state } = order
  return (
    <>
      <Fact name="Solver">
        {solver === undefined ? '–' : <SolverLabel address={solver} hasAddress />}
        {solver !== undefined && <Explorer chainId={chainId} kind="address" id={solver} />}
      </Fact>
      <Fact name="User">
        {user === undefined ? '–' : <Account address={user} />}
        {user !== undefined && <Explorer chainId={chainId} kind="address" id={user} />}
      </Fact>
      {fillDeadline !== undefined && (
        <Fact name="Fill deadline">
          {state === OrderState.DEPOSITED ? (
            <Deadline seconds={fillDeadline} />
          ) : (
            <Moment seconds={fillDeadline} />
          )}
        </Fact>
      )}
      <Fact name="Network">{chainName(chainId)}</Fact>
    </>
  )
}

/** After the fill deadline, anyone may return the input to the user. */
function OrderRefund({ order, chain }: { readonly order: GetOrderResponse; readonly chain: Chain }) {
  const { orderId, state, fillDeadline = 0 } = order
  if (state !== OrderState.DEPOSITED || !isPast(fillDeadline, latestNow.value)) return null
  return (
    <Refund refund={({ refundOrder }) => refundOrder(chain, orderId)}>
      <p>
        The solver has not filled this order in time. A refund returns the input, with{' '}
        <Compensation chain={chain} output={BigInt(order.outputAmount ?? 0)} />.
      </p>
    </Refund>
  )
}
