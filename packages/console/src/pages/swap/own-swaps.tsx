import { useEffect } from 'preact/hooks'
import type { Chain } from '../../../../../gen/aggregator/v1/chain_pb.js'
import { type GetOrderResponse, OrderState } from '../../../../../gen/aggregator/v1/order_pb.js'
import type { SignedQuote } from '../../../../../gen/aggregator/v1/quote_pb.js'
import { OrderId } from '../../components/id.js'
import { StateMark, type Tone } from '../../components/state-mark.js'
import { Amount } from '../../components/token-amount.js'
import { latestNow } from '../../data/clock.js'
import { endOf } from '../../data/orders/order-end.js'
import {
  begunSwaps,
  changeSwap,
  isDepositSeen,
  type OwnSwap,
  storedQuote,
} from '../../data/orders/own-swaps.js'
import { useOrder } from '../../data/orders/use-order.js'

/** Of those that are over. */
const MOST = 4
const REFRESH_MS = 15_000
/** A deposit that was mined is in the events of the instance after this time. */
const UNSEEN_MS = 600_000

interface OwnSwapsProps {
  readonly chain: Chain
  readonly without: string | undefined
}

/** The swaps of this browser, first those that are not over. A page that is loaded again leads back to a deposit on its way. */
export function OwnSwaps({ chain, without }: OwnSwapsProps) {
  const begun = begunSwaps(chain.chainId).flatMap((swap) => {
    const offer = swap.orderId === without ? undefined : storedQuote(swap)
    return offer?.quote === undefined ? [] : [{ swap, offer }]
  })
  const open = begun.filter(({ swap }) => !swap.isOver)
  const shown = begun.slice(0, Math.max(MOST, open.length))
  if (shown.length === 0) return null
  return (
    <section class="panel own-swaps" aria-labelledby="own-swaps-title">
      <h2 id="own-swaps-title">Your swaps in this browser</h2>
      <ul>
        {shown.map(({ swap, offer }) => (
          <OwnSwapLine key={swap.orderId} chain={chain} swap={swap} offer={offer} />
        ))}
      </ul>
    </section>
  )
}

interface LineProps {
  readonly chain: Chain
  readonly swap: OwnSwap
  readonly offer: SignedQuote
}

function OwnSwapLine({ chain, swap, offer }: LineProps) {
  const { chainId } = chain
  const { orderId } = swap
  const { quote } = offer
  const isOpen = (quote?.fillDeadline ?? 0) * 1000 + REFRESH_MS > latestNow.value
  const order = useOrder(chainId, orderId, isOpen ? REFRESH_MS : undefined)
  const isOver = order.data !== undefined && isKnownOver(order.data, swap, quote?.depositDeadline ?? 0)
  useEffect(() => {
    if (isOver && !swap.isOver) changeSwap(orderId, () => ({ isOver }))
  }, [isOver, orderId])
  return (
    <li>
      <span class="own-swap-amounts">
        <Amount chainId={chainId} address={quote?.inputToken ?? ''} amount={quote?.inputAmount} />
        {order.data?.state !== OrderState.REFUNDED && (
          <>
            <span class="muted">for</span>
            <Amount chainId={chainId} address={quote?.outputToken ?? ''} amount={quote?.outputAmount} />
          </>
        )}
      </span>
      <span class="own-swap-order">
        {order.data === undefined ? (
          <span class="muted">…</span>
        ) : (
          <OwnSwapState state={order.data} swap={swap} offer={offer} />
        )}
        <OrderId id={orderId} />
      </span>
    </li>
  )
}

/** Whether nothing can be left to take back. Of an order by address that was refunded, and of one that nobody paid, tokens can come later. */
function isKnownOver(order: GetOrderResponse, swap: OwnSwap, depositDeadline: number): boolean {
  const { isContract } = swap
  const end = endOf(order, isContract !== true)
  if (end !== undefined) return end !== 'ended'
  const isGone = depositDeadline * 1000 + UNSEEN_MS < latestNow.value
  return isContract === true && order.state === OrderState.NONE && isGone && !isDepositSeen(swap)
}

interface StateProps {
  /** What the instance says of its order. */
  readonly state: Parameters<typeof endOf>[0]
  readonly swap: OwnSwap
  readonly offer: SignedQuote
}

/** How a swap of this browser stands. */
export function OwnSwapState({ state: order, swap, offer }: StateProps) {
  const { depositDeadline = 0, fillDeadline = 0 } = offer.quote ?? {}
  const [word, tone] = markOf(order, swap, depositDeadline, fillDeadline)
  return <StateMark word={word} tone={tone} />
}

function markOf(
  order: Parameters<typeof endOf>[0],
  swap: OwnSwap,
  depositDeadline: number,
  fillDeadline: number,
): readonly [word: string, tone: Tone] {
  const { isContract } = swap
  const end = endOf(order, isContract !== true)
  if (end === 'filled') return ['settled', 'good']
  if (end === 'refunded') return ['refunded', 'back']
  const isDue = end !== undefined || fillDeadline * 1000 < latestNow.value
  if (order.state === OrderState.DEPOSITED || (isContract && end === undefined && isDepositSeen(swap)))
    return isDue ? ['not filled: refund it', 'bad'] : ['deposited', 'waiting']
  if (isContract && end === undefined)
    return depositDeadline * 1000 < latestNow.value ? ['not deposited', 'neutral'] : ['waiting', 'waiting']
  return isDue ? ['over: look for a refund', 'neutral'] : ['waiting', 'waiting']
}
