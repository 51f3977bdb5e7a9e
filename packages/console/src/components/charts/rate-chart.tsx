import type { Order } from '../../../../../gen/aggregator/v1/order_pb.js'
import { type Fill, fillsOfPair } from '../../data/orders/pair-fills.js'
import { tokenOf } from '../../data/tokens/tokens.js'
import { formatRate } from '../../format/amount.js'
import { formatSpan, zoneName } from '../../format/time.js'
import { Plot } from './plot.js'

/** A pair of tokens of a chain, with orders among which are its fills. */
interface TradedPair {
  readonly chainId: bigint
  readonly sell: string
  readonly buy: string
  readonly orders: readonly Order[] | undefined
}

/** A line of fewer points says nothing. */
const LEAST_FILLS = 3
const WHOLE = 10n ** 12n
const NEARLY = 1e-12

/** The fills of a pair of listed tokens, the earliest first. None of other tokens, and while there are few. */
export function fillsOf({ chainId, sell, buy, orders = [] }: TradedPair): readonly Fill[] {
  const [sold, bought] = [tokenOf(chainId, sell), tokenOf(chainId, buy)]
  if (!sold?.isListed || !bought?.isListed) return []
  const fills = fillsOfPair(orders, [sell, buy], [sold.decimals ?? 0, bought.decimals ?? 0])
  return fills.length < LEAST_FILLS ? [] : fills
}

/** Rounded as in lists. A number may lie a little below what it stands for. @param decimals of the token that was bought */
export const formatFillRate = (rate: number, decimals: number) =>
  formatRate(WHOLE, BigInt(Math.floor(rate * (1 + NEARLY) * 10 ** decimals * Number(WHOLE))), 0, decimals) ??
  ''

/** The rate of a pair by its fills, or nothing. */
export function RateChart(pair: TradedPair) {
  const fills = fillsOf(pair)
  if (fills.length === 0) return null
  const [sold, bought] = [pair.sell, pair.buy].map((token) => tokenOf(pair.chainId, token))
  const decimals = bought?.decimals ?? 0
  const spanMs = ((fills.at(-1)?.at ?? 0) - (fills[0]?.at ?? 0)) * 1000
  return (
    <figure>
      <Plot
        title={`${bought?.symbol} for 1 ${sold?.symbol}: the last fills, over ${formatSpan(spanMs)}`}
        times={fills.map(({ at }) => at)}
        values={fills.map(({ rate }) => rate)}
        format={(rate) => formatFillRate(rate, decimals)}
      />
      <figcaption class="muted">
        Anyone can trade with themselves at any price. The axis does not begin at 0. Times in {zoneName()}.
      </figcaption>
    </figure>
  )
}
