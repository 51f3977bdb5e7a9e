import type { Order } from '../../../../gen/aggregator/v1/order_pb.js'
import { tokenOf, tokensOf } from '../data/tokens/tokens.js'
import { formatAmount } from '../format/amount.js'
import { fillsOf } from './charts/rate-chart.js'

/** The symbols of listed tokens that stand for a dollar. */
const DOLLARS = /^(USDC|USDT|DAI|USDS|PYUSD)$/
const CENTS = 2

interface WorthProps {
  readonly chainId: bigint
  readonly address: string
  readonly amount: bigint
  /** Among which are the last fills of the token. */
  readonly orders: readonly Order[] | undefined
}

/** What an amount of a listed token is worth in a dollar token, by their last fill here; nothing where there is none. */
export function Worth({ chainId, address, amount, orders }: WorthProps) {
  const token = tokenOf(chainId, address)
  const dollar = tokensOf(chainId).find(({ isListed, symbol = '' }) => isListed && DOLLARS.test(symbol))
  const rate = fillsOf({ chainId, sell: address, buy: dollar?.address ?? '', orders }).at(-1)?.rate
  if (rate === undefined) return null
  const cents = Math.round((Number(amount) / 10 ** (token?.decimals ?? 0)) * rate * 10 ** CENTS)
  return (
    <span class="worth muted">
      ≈ {formatAmount(BigInt(cents), CENTS)} {dollar?.symbol}
    </span>
  )
}
