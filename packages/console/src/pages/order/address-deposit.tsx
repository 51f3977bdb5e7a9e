import { useEffect, useState } from 'preact/hooks'
import type { Chain } from '../../../../../gen/aggregator/v1/chain_pb.js'
import { OrderState } from '../../../../../gen/aggregator/v1/order_pb.js'
import type { Quote, SignedQuote } from '../../../../../gen/aggregator/v1/quote_pb.js'
import { Id, SolverLabel } from '../../components/id.js'
import { StateMark } from '../../components/state-mark.js'
import { Amount } from '../../components/token-amount.js'
import { now } from '../../data/clock.js'
import { formatAge, formatMoment } from '../../format/time.js'
import { loadWallet } from '../../wallet/load.js'
import { wallet } from '../../wallet/state.js'
import { isPast, Refund } from './refund.js'

const BALANCE_MS = 5000

interface AddressDepositProps {
  readonly chain: Chain
  readonly offer: SignedQuote
  readonly state: OrderState
}

/** A swap of this browser by deposit address: its terms while the contract has no order, and the refund of what is there. */
export function AddressDeposit({ chain, offer, state }: AddressDepositProps) {
  const { quote, depositAddress } = offer
  const isDue = isPast(quote?.fillDeadline ?? 0, now.value)
  const held = useBalance(chain, quote?.inputToken ?? '', depositAddress, isDue)
  if (quote === undefined) return null
  const hasOrder = state !== OrderState.NONE
  // After its order has ended, a deposit address may get tokens again.
  if (hasOrder && (!isDue || held === undefined || held === 0n)) return null
  return (
    <section class="panel" aria-labelledby="address-title">
      <h2 id="address-title" class={hasOrder ? '' : 'visually-hidden'}>
        Deposit address
      </h2>
      {!hasOrder && (
        <p class="hero-state">
          <Progress isDue={isDue} isEmpty={held === 0n} />
        </p>
      )}
      {!hasOrder && <Terms chain={chain} quote={quote} depositAddress={depositAddress} />}
      {!isDue ? (
        <p class="chart-note">
          The solver settles the order once the tokens are at the deposit address. After the fill deadline,
          you can refund them here.
        </p>
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

function Terms({
  chain,
  quote,
  depositAddress,
}: {
  readonly chain: Chain
  readonly quote: Quote
  readonly depositAddress: string
}) {
  return (
    <dl class="facts facts-large">
      <dt>Sells</dt>
      <dd>
        <Amount chainId={chain.chainId} address={quote.inputToken} amount={quote.inputAmount} />
      </dd>
      <dt>Buys</dt>
      <dd>
        <Amount chainId={quote.outputChainId} address={quote.outputToken} amount={quote.outputAmount} />
      </dd>
      <dt>Solver</dt>
      <dd>
        <SolverLabel address={quote.solver} />
      </dd>
      <dt>Address</dt>
      <dd>
        <Id text={depositAddress} label="deposit address" />
      </dd>
      <dt>Deposit deadline</dt>
      <dd>
        <Deadline seconds={quote.depositDeadline} />
      </dd>
      <dt>Fill deadline</dt>
      <dd>
        <Deadline seconds={quote.fillDeadline} />
      </dd>
    </dl>
  )
}

const Deadline = ({ seconds }: { readonly seconds: number }) => (
  <span class="number" title={formatMoment(seconds * 1000)}>
    {formatAge(seconds * 1000, now.value)}
  </span>
)

/** How much of a token is at an address, read again every few seconds. Undefined without a wallet on the chain. */
function useBalance(chain: Chain, token: string, holder: string, isWanted: boolean): bigint | undefined {
  const [balance, setBalance] = useState<bigint>()
  const isHere = wallet.value !== undefined && BigInt(wallet.value.chainId) === chain.chainId
  const time = Math.floor(now.value / BALANCE_MS)
  useEffect(() => {
    if (!isWanted || !isHere) return setBalance(undefined)
    let isEnded = false
    void loadWallet()
      .then(({ readBalance }) => readBalance(token, holder))
      .then(
        (read) => !isEnded && setBalance(read),
        () => {},
      )
    return () => {
      isEnded = true
    }
  }, [isWanted, isHere, holder, time])
  return balance
}
