import type { Chain } from '../../../../../gen/aggregator/v1/chain_pb.js'
import type { Quote } from '../../../../../gen/aggregator/v1/quote_pb.js'
import { SolverLabel } from '../../components/id.js'
import { Paid } from '../../components/paid.js'
import { Deadline } from '../../components/time.js'
import { Amount } from '../../components/token-amount.js'
import { Worth } from '../../components/worth.js'
import { latestNow } from '../../data/clock.js'
import { coinOf } from '../../data/coins.js'
import { useLatestOrders } from '../../data/orders/use-latest-orders.js'
import { useReliabilities } from '../../data/solvers/reliability.js'
import { tokensOf } from '../../data/tokens/tokens.js'
import { formatAmount } from '../../format/amount.js'
import { formatSpan } from '../../format/time.js'
import { useWalletRead } from '../../wallet/use-wallet-read.js'
import { isPast } from '../order/refund.js'

const BPS = 10_000n
/** What the reference contract takes: an approval with a deposit, and a transfer. Other contracts and tokens take more or less. */
const USUAL_GAS = { deposit: 355_000n, transfer: 52_000n }

/** An offer, or a price, which has no deadlines and binds nobody. */
export type SwapTerms = Pick<Quote, 'inputToken' | 'inputAmount' | 'outputToken' | 'outputAmount'> &
  Partial<Pick<Quote, 'depositDeadline' | 'fillDeadline' | 'solver'>>

interface WhatHappensProps {
  readonly chain: Chain
  readonly swap: SwapTerms
  /** Whether the contract has the input, or the deposit address. */
  readonly isDeposited?: boolean
  /** Whether the user sends the input to the deposit address. */
  readonly isTransfer?: boolean
}

/** What will happen to the user's money: the output, or the input back. A transfer has its conditions. */
export function WhatHappens({ chain, swap, isDeposited = false, isTransfer = false }: WhatHappensProps) {
  const { chainId, defaultDepositWindow, fillWindow } = chain
  const { inputToken, inputAmount, outputToken, outputAmount, depositDeadline, fillDeadline, solver } = swap
  const input = <Amount chainId={chainId} address={inputToken} amount={inputAmount} isShort />
  const compensation = <Compensation chain={chain} output={BigInt(outputAmount)} />
  const most = formatSpan((defaultDepositWindow + fillWindow) * 1000)
  const after =
    fillDeadline === undefined ? `the offer ends (${most} at most)` : <Deadline seconds={fillDeadline} />
  const gasPrice = useWalletRead(chain, isDeposited ? '' : 'gas', ({ readGasPrice }) => readGasPrice(chain))
  const gas = gasPrice && gasPrice * USUAL_GAS[isTransfer ? 'transfer' : 'deposit']
  const record = useReliabilities(chainId).get(solver?.toLowerCase() ?? '')
  if (isDeposited && isPast(fillDeadline ?? 0, latestNow.value))
    return (
      <p>
        The solver has not paid in time. Take your {input} back, with {compensation}.
      </p>
    )
  return (
    <dl class="facts terms">
      <dt>You get</dt>
      <dd>
        {fillDeadline === undefined ? 'at this price' : 'exactly'}{' '}
        <Amount chainId={chainId} address={outputToken} amount={outputAmount} isShort />
        {solver !== undefined && (
          <>
            {' '}
            from <SolverLabel address={solver} />: <Paid of={record} solver={solver} /> in 24 h
          </>
        )}
      </dd>
      {!isTransfer && !isDeposited && depositDeadline !== undefined && (
        <>
          <dt>Price holds</dt>
          <dd>
            until <Deadline seconds={depositDeadline} />. A later deposit reverts
          </dd>
        </>
      )}
      <dt>If not paid</dt>
      <dd>
        until {after}, {input} is locked. Then a refund that you press brings it back, and {compensation}
        {isTransfer &&
          '. It needs the signed quote, which this browser keeps. Late, short or cancelled: no compensation'}
      </dd>
      <dt>Cost</dt>
      <dd>
        no fee. {!isDeposited && `Gas of ${isTransfer ? 'the transfer' : 'approval and deposit'}`}
        {gas !== undefined && (
          <>
            , about <Gas chainId={chainId} amount={gas} />
          </>
        )}
        {isDeposited ? 'Gas' : ', and'} of a refund if you need one.
      </dd>
    </dl>
  )
}

/** An amount of the coin that pays gas. */
export function Gas({ chainId, amount }: { readonly chainId: bigint; readonly amount: bigint }) {
  const coin = coinOf(chainId)
  const wrapped = tokensOf(chainId).find(({ isListed, symbol }) => isListed && symbol === `W${coin}`)
  const { orders } = useLatestOrders(chainId)
  return (
    <>
      <span class="number">{formatAmount(amount, 18, 6)}</span> {coin ?? 'of the native coin'}{' '}
      {wrapped && <Worth {...{ chainId, orders, amount }} address={wrapped.address} />}
    </>
  )
}

/** What a refund pays to the user of the solver's bond. */
export function Compensation({ chain, output }: { readonly chain: Chain; readonly output: bigint }) {
  const { chainId, bondReservationBps, bondToken } = chain
  if (bondReservationBps === undefined || bondToken === undefined) return <>a part of the solver's bond</>
  const amount = (output * BigInt(bondReservationBps)) / BPS
  return (
    <>
      <Amount chainId={chainId} address={bondToken.address} amount={amount} isShort /> of the solver's bond,
      at no known price
    </>
  )
}
