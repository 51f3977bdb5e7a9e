import type { ComponentChildren } from 'preact'
import type { Chain } from '../../../../../gen/aggregator/v1/chain_pb.js'
import type { Quote } from '../../../../../gen/aggregator/v1/quote_pb.js'
import { fillsOf } from '../../components/charts/rate-chart.js'
import { Deadline } from '../../components/time.js'
import { Amount, BondAmount } from '../../components/token-amount.js'
import { coinOf } from '../../data/coins.js'
import { SPARE_SECONDS } from '../../data/orders/address-use.js'
import { useLatestOrders } from '../../data/orders/use-latest-orders.js'
import type { KnownToken } from '../../data/tokens/known-token.js'
import { tokensOf } from '../../data/tokens/tokens.js'
import { formatAmount, group } from '../../format/amount.js'
import { formatSpan } from '../../format/time.js'
import { useWalletRead } from '../../wallet/use-wallet-read.js'

const BPS = 10_000n
/** What the reference contract takes: an approval with a deposit, and a transfer. Other contracts and tokens take more or less. */
const USUAL_GAS = { deposit: 355_000n, transfer: 52_000n }

/** An offer, or a price, which has no deadlines and binds nobody. */
export type SwapTerms = Pick<Quote, 'inputToken' | 'inputAmount' | 'outputToken' | 'outputAmount'> &
  Partial<Pick<Quote, 'depositDeadline' | 'fillDeadline' | 'solver'>>

interface WhatHappensProps {
  readonly chain: Chain
  readonly swap: SwapTerms
  /** What the user must do before a price becomes an offer. */
  readonly missing?: string
  /** Whether the contract has the input, or the deposit address. */
  readonly isDeposited?: boolean
  /** Whether the user sends the input to the deposit address. */
  readonly isTransfer?: boolean
  /** More terms. */
  readonly children?: ComponentChildren
}

/** What will happen to the user's money: the output, or the input back. */
export function WhatHappens(props: WhatHappensProps) {
  const { chain, swap, missing, isDeposited = false, isTransfer = false, children } = props
  const { chainId, defaultDepositWindow, fillWindow } = chain
  const { inputToken, inputAmount, outputToken, outputAmount, depositDeadline, fillDeadline } = swap
  const isOffer = depositDeadline !== undefined
  const show = (address: string, amount: string) => (
    <Amount {...{ chainId, address, amount }} isExact={isOffer} isShort />
  )
  const input = show(inputToken, inputAmount)
  const most = formatSpan((defaultDepositWindow + fillWindow) * 1000)
  const gasPrice = useWalletRead(chain, isDeposited ? '' : 'gas', ({ readGasPrice }) => readGasPrice(chain))
  const gas = gasPrice && gasPrice * USUAL_GAS[isTransfer ? 'transfer' : 'deposit']
  return (
    <div class="terms">
      <dl class="facts">
        {!isDeposited && (
          <>
            <dt>You pay</dt>
            <dd>
              {input} and gas{gas && ' of about '}
              {gas && <Gas chainId={chainId} amount={gas} />}
              {isTransfer || ', approval included'}; no fee
            </dd>
          </>
        )}
        <dt>{isOffer ? 'Solver owes' : 'You get'}</dt>
        <dd>
          {isOffer && 'exactly '}
          {show(outputToken, outputAmount)}
          {!isOffer
            ? `, an estimate until you ${missing}`
            : !isDeposited && (
                <>
                  {isTransfer ? ' if it arrives by ' : ' if deposited by '}
                  <Deadline seconds={depositDeadline - (isTransfer ? SPARE_SECONDS : 0)} />
                  {isTransfer && ', before it cancels'}
                </>
              )}
        </dd>
        <dt>If not paid</dt>
        <dd>
          after {fillDeadline === undefined ? most : <Deadline seconds={fillDeadline} />} you can take {input}{' '}
          back {isTransfer && 'with the signed quote, '}for the gas of a refund, plus{' '}
          <Compensation chain={chain} output={BigInt(outputAmount)} />
        </dd>
        {isTransfer && (
          <>
            <dt>Not covered</dt>
            <dd>what comes late, in part or again: no compensation, and late tokens may be lost</dd>
          </>
        )}
        {children}
      </dl>
    </div>
  )
}

/** The symbols of listed tokens that stand for a dollar. */
const DOLLARS = /^(USDC|USDT|DAI|USDS|PYUSD)$/

/** What amounts of listed tokens are worth in a dollar token of the list, by their last fill here. */
export function useWorth(chainId: bigint) {
  const listed = tokensOf(chainId).filter(({ isListed }) => isListed)
  const dollar = listed.find(({ symbol = '' }) => DOLLARS.test(symbol))
  const { orders } = useLatestOrders(chainId)
  return (token: KnownToken | undefined, amount: bigint) => {
    const [sell = '', buy = ''] = [token?.address, dollar?.address]
    const rate = sell === buy ? 1 : fillsOf({ chainId, sell, buy, orders }).at(-1)?.rate
    const worth = (Number(amount) / 10 ** (token?.decimals ?? 0)) * (rate ?? 0)
    return {
      worth,
      words:
        worth > 0 && sell !== buy ? `≈ ${group(worth.toFixed(worth < 1000 ? 2 : 0))} ${dollar?.symbol}` : '',
    }
  }
}

/** An amount of the coin that pays gas, and its worth. */
export function Gas({ chainId, amount }: { readonly chainId: bigint; readonly amount: bigint }) {
  const coin = coinOf(chainId)
  const wrapped = tokensOf(chainId).find(({ symbol, isListed }) => isListed && symbol === `W${coin}`)
  return (
    <>
      <span class="number">{formatAmount(amount, 18)}</span> {coin ?? 'of the native coin'}{' '}
      <span class="muted">{useWorth(chainId)(wrapped, amount).words}</span>
    </>
  )
}

/** What a refund pays to the user of the solver's bond. */
export function Compensation({ chain, output }: { readonly chain: Chain; readonly output: bigint }) {
  const { bondReservationBps, bondToken } = chain
  if (bondReservationBps === undefined || bondToken === undefined) return <>a part of the solver's bond</>
  const amount = (output * BigInt(bondReservationBps)) / BPS
  return (
    <>
      <BondAmount chain={chain} amount={amount} /> of the solver's bond
    </>
  )
}
