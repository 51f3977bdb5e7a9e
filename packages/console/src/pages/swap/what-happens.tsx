import type { Chain } from '../../../../../gen/aggregator/v1/chain_pb.js'
import type { Quote } from '../../../../../gen/aggregator/v1/quote_pb.js'
import { Deadline } from '../../components/time.js'
import { Amount } from '../../components/token-amount.js'
import { latestNow } from '../../data/clock.js'
import { formatAmount } from '../../format/amount.js'
import { formatSpan } from '../../format/time.js'
import { isPast } from '../order/refund.js'

const BPS = 10_000n
const CANCELLED =
  'If the solver cancels before it pays, there is no compensation, and with some contracts no way back.'

interface WhatHappensProps {
  readonly chain: Chain
  /** An offer, or a price, which has no deadline and binds nobody. */
  readonly swap: Pick<Quote, 'inputToken' | 'inputAmount' | 'outputToken' | 'outputAmount'> & {
    readonly fillDeadline?: number
  }
  /** Whether the contract has the input, or the deposit address. */
  readonly isDeposited?: boolean
  /** Whether the input goes to a deposit address. The solver can cancel such an offer until it pays. */
  readonly isAddress?: boolean
}

/** What will happen to the user's money: exactly the output, or the input back. */
export function WhatHappens({ chain, swap, isDeposited = false, isAddress = false }: WhatHappensProps) {
  const { chainId, defaultDepositWindow, fillWindow } = chain
  const { inputToken, inputAmount, outputToken, outputAmount, fillDeadline } = swap
  const output = <Amount chainId={chainId} address={outputToken} amount={outputAmount} isShort />
  const input = <Amount chainId={chainId} address={inputToken} amount={inputAmount} isShort />
  const compensation = <Compensation chain={chain} output={BigInt(outputAmount)} />
  const after =
    fillDeadline === undefined ? (
      formatSpan((defaultDepositWindow + fillWindow) * 1000)
    ) : (
      <Deadline seconds={fillDeadline} />
    )
  if (isDeposited && isPast(fillDeadline ?? 0, latestNow.value))
    return (
      <p class="what-happens">
        The solver has not paid in time. Take your {input} back, with {compensation}.
      </p>
    )
  const cancelled = isAddress && ` ${CANCELLED}`
  return isDeposited ? (
    <p class="what-happens">
      {isAddress ? 'The deposit address' : 'The contract'} holds your {input}. The solver has until {after} to
      pay you {output}. After that, you take your tokens back, with {compensation}.{cancelled}
    </p>
  ) : (
    <p class="what-happens">
      {isAddress && 'For a transfer in time: '}
      {fillDeadline === undefined ? 'An offer at this price pays you' : 'You get exactly'} {output}, or you
      take your {input} back after {after}, with {compensation}.{cancelled} No fee, no slippage. You pay the
      network's gas.
    </p>
  )
}

/** What a refund pays to the user of the solver's bond. */
export function Compensation({ chain, output }: { readonly chain: Chain; readonly output: bigint }) {
  const { bondReservationBps, bondToken } = chain
  if (bondReservationBps === undefined || bondToken === undefined) return <>a part of the solver's bond</>
  return (
    <>
      <BondAmount chain={chain} amount={(output * BigInt(bondReservationBps)) / BPS} /> of the solver's bond
    </>
  )
}

/** An amount of the token of bonds, which the contract names. */
export function BondAmount({ chain, amount }: { readonly chain: Chain; readonly amount: bigint }) {
  const { decimals, symbol = 'units' } = chain.bondToken ?? {}
  return (
    <strong class="number">
      {formatAmount(amount, decimals)} <bdi>{symbol}</bdi>
    </strong>
  )
}
