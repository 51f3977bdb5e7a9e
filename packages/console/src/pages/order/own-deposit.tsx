import type { Chain } from '../../../../../gen/aggregator/v1/chain_pb.js'
import { OrderState } from '../../../../../gen/aggregator/v1/order_pb.js'
import type { SignedQuote } from '../../../../../gen/aggregator/v1/quote_pb.js'
import { Id } from '../../components/id.js'
import { latestNow } from '../../data/clock.js'
import { isDepositSeen, type OwnSwap } from '../../data/orders/own-swaps.js'
import { OwnSwapState } from '../swap/own-swaps.js'
import { WhatHappens } from '../swap/what-happens.js'
import { isPast } from './refund.js'

interface OwnDepositProps {
  readonly chain: Chain
  readonly offer: SignedQuote
  /** What this browser knows of the swap. */
  readonly swap: OwnSwap
}

/** A swap of this browser with the contract, while the contract has no order. */
export function OwnDeposit({ chain, offer, swap }: OwnDepositProps) {
  const { quote } = offer
  const transaction = swap.progress?.hash
  if (quote === undefined) return null
  const isSeen = isDepositSeen(swap)
  const isLate = !isSeen && isPast(quote.depositDeadline, latestNow.value)
  return (
    <section class="panel" aria-label="Deposit">
      <p class="hero-state">
        <OwnSwapState state={{ state: OrderState.NONE }} swap={swap} offer={offer} />
      </p>
      {!isLate && <WhatHappens chain={chain} swap={quote} isDeposited={isSeen} />}
      {transaction !== undefined && (
        <p>
          Deposit <Id text={transaction} label="transaction" />
        </p>
      )}
      <p class="chart-note">
        {isLate
          ? 'The deposit deadline has passed. A deposit now reverts, and changes nothing.'
          : 'The order appears here once its deposit is mined.'}
      </p>
    </section>
  )
}
