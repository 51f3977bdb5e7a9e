import type { Order } from '../../../../../gen/aggregator/v1/order_pb.js'
import { type Fill, fillsOfPair } from '../../data/orders/pair-fills.js'
import { tokenOf } from '../../data/tokens/tokens.js'
import { formatSpan } from '../../format/time.js'
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

const formatRate = (rate: number) =>
  rate
    .toLocaleString(
      'en',
      rate < 1 ? { maximumSignificantDigits: 6 } : { minimumFractionDigits: 2, maximumFractionDigits: 2 },
    )
    .replaceAll(',', '\u202f')

/** The fills of a pair of listed tokens, the earliest first. None of other tokens, and while there are few. */
export function fillsOf({ chainId, sell, buy, orders = [] }: TradedPair): readonly Fill[] {
  const [sold, bought] = [tokenOf(chainId, sell), tokenOf(chainId, buy)]
  if (!sold?.isListed || !bought?.isListed) return []
  const fills = fillsOfPair(orders, [sell, buy], [sold.decimals ?? 0, bought.decimals ?? 0])
  return fills.length < LEAST_FILLS ? [] : fills
}

/** The rate of a pair by its fills, or nothing. */
export function RateChart(pair: TradedPair) {
  const fills = fillsOf(pair)
  if (fills.length === 0) return null
  const [sold, bought] = [pair.sell, pair.buy].map((token) => tokenOf(pair.chainId, token)?.symbol)
  const spanMs = ((fills.at(-1)?.at ?? 0) - (fills[0]?.at ?? 0)) * 1000
  return (
    <figure>
      <Plot
        title={`${bought} for 1 ${sold}, ${fills.length} fills in ${formatSpan(spanMs)}`}
        times={fills.map(({ at }) => at)}
        values={fills.map(({ rate }) => rate)}
        format={formatRate}
      />
      <figcaption class="muted">
        Anyone can trade with themselves at any price. The axis does not begin at 0.
      </figcaption>
    </figure>
  )
}
