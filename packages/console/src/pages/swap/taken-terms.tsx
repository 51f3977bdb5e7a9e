import { Fact } from '../../components/facts.js'
import { Account, OrderId, SolverLabel } from '../../components/id.js'
import { Rate } from '../../components/rate.js'
import { Moment } from '../../components/time.js'
import { timeOf } from '../../data/orders/latest-orders.js'
import { useOrder } from '../../data/orders/use-order.js'
import { useWalletRead } from '../../wallet/use-wallet-read.js'
import { stateOf, type TakenOffer } from './taken-offer.js'
import { Gas, WhatHappens } from './what-happens.js'

/** The terms of the offer that was taken; once it is paid, a receipt. */
export function TakenTerms({ taken }: { readonly taken: TakenOffer }) {
  const { chain, offer, wanted, steps } = taken
  const { quote, orderId } = offer
  const { chainId } = chain
  const isOver = stateOf('fill', taken) === 'done'
  const order = useOrder(chainId, isOver ? orderId : undefined, undefined).data
  const endedMs = timeOf(order?.settled ?? order?.refunded)
  // Those before the fill, which the solver pays.
  const hashes = steps.slice(0, -1).flatMap(({ detail }) => (detail.startsWith('0x') ? [detail] : []))
  const gas = useWalletRead(chain, isOver && hashes.length > 0 ? `gas of ${hashes}` : '', ({ readGasPaid }) =>
    readGasPaid(chain, hashes),
  )
  if (quote === undefined) return null
  return (
    <section class="panel taken-terms" aria-labelledby="terms-title">
      <h2 id="terms-title">{isOver ? 'Receipt' : 'Terms'}</h2>
      {!isOver && (
        <WhatHappens
          chain={chain}
          swap={quote}
          isDeposited={stateOf('deposit', taken) === 'done'}
          isTransfer={wanted.mode === 'ADDRESS'}
        />
      )}
      <dl class="fact-row">
        <Fact name="Rate">
          <Rate chainId={chainId} swap={quote} isExact />
        </Fact>
        <Fact name="Receiver">
          <Account address={quote.user} />
        </Fact>
        <Fact name="Solver">
          <SolverLabel address={quote.solver} />
        </Fact>
        <Fact name="Order">
          <OrderId id={orderId} />
        </Fact>
        {gas !== undefined && (
          <Fact name="Gas of all your steps">
            <Gas chainId={chainId} amount={gas} />
          </Fact>
        )}
        {endedMs !== undefined && (
          <Fact name="Block time">
            <Moment seconds={endedMs / 1000} />
          </Fact>
        )}
      </dl>
    </section>
  )
}
