import type { Chain } from '../../../../../gen/aggregator/v1/chain_pb.js'
import { OrderState } from '../../../../../gen/aggregator/v1/order_pb.js'
import type { SignedQuote } from '../../../../../gen/aggregator/v1/quote_pb.js'
import { Id } from '../../components/id.js'
import { BondAmount } from '../../components/token-amount.js'
import { latestNow } from '../../data/clock.js'
import type { OwnSwap } from '../../data/orders/own-swaps.js'
import { wallet } from '../../wallet/connected-wallet.js'
import { useWalletRead } from '../../wallet/use-wallet-read.js'
import { Connect } from '../swap/connect.js'
import { DepositAddress } from '../swap/deposit-address.js'
import { OwnSwapState } from '../swap/own-swaps.js'
import { isPast, Refund } from './refund.js'

interface AddressDepositProps {
  readonly chain: Chain
  readonly offer: SignedQuote
  readonly state: OrderState
  /** What this browser knows of the swap. */
  readonly swap: OwnSwap
}

/** A swap of this browser by deposit address: its terms while the contract has no order, and what can be taken back of it. */
export function AddressDeposit({ chain, offer, state, swap }: AddressDepositProps) {
  const { quote, depositAddress, orderId } = offer
  const hasOrder = state !== OrderState.NONE
  const isDue = isPast(quote?.fillDeadline ?? 0, latestNow.value)
  const isAsked = isDue || hasOrder
  const plan = useWalletRead(chain, isAsked ? `refund ${orderId}` : '', ({ planRefund }) =>
    planRefund(chain, offer),
  )
  const refund = plan !== undefined && 'call' in plan ? plan : undefined
  if (quote === undefined) return null
  // An order can be settled while more than its input lies at the address.
  if (state === OrderState.SETTLED && wallet.value === undefined)
    return (
      <div class="notice">
        <Connect>Look for tokens that came again or too late</Connect>
      </div>
    )
  // After its order has ended, there may be more: tokens came too late, again, or too many.
  if (hasOrder && state !== OrderState.REFUNDED && refund === undefined) return null
  return (
    <section class="panel" aria-labelledby="address-title">
      <h2 id="address-title" class={hasOrder ? '' : 'visually-hidden'}>
        {hasOrder ? 'Deposit address' : 'Swap by deposit address'}
      </h2>
      {!hasOrder && (
        <>
          <p class="hero-state">
            <OwnSwapState state={{ state }} swap={swap} offer={offer} />
          </p>
          {isDue && (
            <p>
              Deposit address <Id text={depositAddress} label="deposit address" />
            </p>
          )}
        </>
      )}
      {!isAsked && (
        <div class="order-deposit">
          <DepositAddress chain={chain} offer={offer} swap={swap} />
        </div>
      )}
      {isAsked && plan !== undefined && 'none' in plan && <p class="chart-note">{plan.none}</p>}
      {isAsked && (plan === undefined || refund !== undefined) && (
        <Refund refund={({ refundOffer }) => refundOffer(chain, offer)}>
          <p>
            {!hasOrder
              ? 'The solver has not filled this order in time.'
              : refund !== undefined
                ? 'There are tokens of this order.'
                : 'The order has ended. Tokens that came later may lie at its address.'}{' '}
            A refund returns the tokens to the user.
          </p>
          {refund !== undefined && refund.compensation > 0n && (
            <p>
              With up to <BondAmount chain={chain} amount={refund.compensation} /> of the solver's bond.
            </p>
          )}
        </Refund>
      )}
    </section>
  )
}
