import type { Chain } from '../../../../../gen/aggregator/v1/chain_pb.js'
import { OrderState } from '../../../../../gen/aggregator/v1/order_pb.js'
import type { SignedQuote } from '../../../../../gen/aggregator/v1/quote_pb.js'
import { Id } from '../../components/id.js'
import { StateMark } from '../../components/state-mark.js'
import { Amount } from '../../components/token-amount.js'
import { now } from '../../data/clock.js'
import { useBalance } from '../../wallet/use-balance.js'
import { DepositAddress } from '../swap/deposit-address.js'
import { Terms } from './own-deposit.js'
import { isPast, Refund } from './refund.js'

interface AddressDepositProps {
  readonly chain: Chain
  readonly offer: SignedQuote
  readonly state: OrderState
  /** Whether the deposit address was checked against the contract, through the user's wallet. */
  readonly isChecked: boolean
}

/** A swap of this browser by deposit address: its terms while the contract has no order, and the refund of what is there. */
export function AddressDeposit({ chain, offer, state, isChecked }: AddressDepositProps) {
  const { quote, depositAddress } = offer
  const isDue = isPast(quote?.fillDeadline ?? 0, now.value)
  const held = useBalance(chain, isDue ? (quote?.inputToken ?? '') : '', depositAddress)
  if (quote === undefined) return null
  const hasOrder = state !== OrderState.NONE
  // After its order has ended, a deposit address may get tokens again.
  if (hasOrder && (!isDue || held === undefined || held === 0n)) return null
  return (
    <section class="panel" aria-labelledby="address-title">
      <h2 id="address-title" class={hasOrder ? '' : 'visually-hidden'}>
        {hasOrder ? 'Deposit address' : 'Swap by deposit address'}
      </h2>
      {!hasOrder && (
        <p class="hero-state">
          <Progress isDue={isDue} isEmpty={held === 0n} />
        </p>
      )}
      {!hasOrder && (
        <Terms chain={chain} quote={quote}>
          <dt>Address</dt>
          <dd>
            <Id text={depositAddress} label="deposit address" />
          </dd>
        </Terms>
      )}
      {!isDue ? (
        <>
          <p class="chart-note">
            The solver settles the order once the tokens are at the deposit address. After the fill deadline,
            you can refund them here.
          </p>
          {!hasOrder && (
            <div class="order-deposit">
              <DepositAddress chain={chain} offer={offer} isChecked={isChecked} />
            </div>
          )}
        </>
      ) : held === 0n ? (
        <p class="chart-note">
          The fill deadline has passed. There are no tokens at the deposit address: there is nothing to
          refund.
        </p>
      ) : (
        <Refund refund={({ refundAddressDeposit }) => refundAddressDeposit(chain, offer)}>
          <p>
            {hasOrder
              ? 'More tokens have reached the deposit address.'
              : 'The solver has not filled this order in time.'}{' '}
            A refund returns the tokens at the deposit address to the user.
          </p>
          {held !== undefined && (
            <p>
              At the deposit address:{' '}
              <Amount chainId={chain.chainId} address={quote.inputToken} amount={held} />
            </p>
          )}
        </Refund>
      )}
    </section>
  )
}

/** What is known of an address deposit that has no order. */
function Progress({ isDue, isEmpty }: { readonly isDue: boolean; readonly isEmpty: boolean }) {
  if (!isDue) return <StateMark word="waiting" tone="waiting" />
  return isEmpty ? <StateMark word="not paid" tone="neutral" /> : <StateMark word="not filled" tone="bad" />
}
