import type { ComponentChildren } from 'preact'
import type { Chain } from '../../../../../gen/aggregator/v1/chain_pb.js'
import type { Quote, SignedQuote } from '../../../../../gen/aggregator/v1/quote_pb.js'
import { Id, SolverLabel } from '../../components/id.js'
import { StateMark } from '../../components/state-mark.js'
import { Deadline } from '../../components/time.js'
import { Amount } from '../../components/token-amount.js'
import { latestNow } from '../../data/clock.js'
import { isPast } from './refund.js'

interface OwnDepositProps {
  readonly chain: Chain
  readonly offer: SignedQuote
  /** The hash of the deposit that the wallet has sent. */
  readonly transaction: string | undefined
}

/** A swap of this browser with the contract, while the contract has no order. */
export function OwnDeposit({ chain, offer, transaction }: OwnDepositProps) {
  const { quote } = offer
  if (quote === undefined) return null
  const isLate = isPast(quote.depositDeadline, latestNow.value)
  return (
    <section class="panel" aria-label="Deposit">
      <p class="hero-state">
        {isLate ? (
          <StateMark word="not deposited" tone="neutral" />
        ) : (
          <StateMark word="waiting" tone="waiting" />
        )}
      </p>
      <Terms chain={chain} quote={quote}>
        {transaction !== undefined && (
          <>
            <dt>Deposit</dt>
            <dd>
              <Id text={transaction} label="transaction" />
            </dd>
          </>
        )}
      </Terms>
      <p class="chart-note">
        {isLate
          ? 'The deposit deadline has passed. A deposit that is mined now reverts: it changes nothing.'
          : transaction === undefined
            ? 'The wallet was asked for the deposit. If it has sent it, the order appears here once it is mined.'
            : 'The order appears here once its deposit is mined.'}
      </p>
    </section>
  )
}

/** The terms of an offer that has no order. @param children further facts */
export function Terms({
  chain,
  quote,
  children,
}: {
  readonly chain: Chain
  readonly quote: Quote
  readonly children?: ComponentChildren
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
      {children}
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
