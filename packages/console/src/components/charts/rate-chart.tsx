import { useState } from 'preact/hooks'
import type { Order } from '../../../../../gen/aggregator/v1/order_pb.js'
import { type Fill, fillsOfPair } from '../../data/orders/pair-fills.js'
import { tokenOf } from '../../data/tokens/tokens.js'
import { formatChange, formatRate } from '../../format/amount.js'
import { formatSpan } from '../../format/time.js'
import { Fact } from '../facts.js'
import { FromTemplate } from '../notice.js'
import { Plot } from './plot.js'

/** A pair of tokens of a chain, with orders among which are its fills. */
interface TradedPair {
  readonly chainId: bigint
  readonly sell: string
  readonly buy: string
  readonly orders: readonly Order[] | undefined
}

/** In seconds before the last fill. */
const RANGES = { '5 min': 300, '1 h': 3600, '24 h': 86_400, Latest: Number.POSITIVE_INFINITY }
/** A line of fewer points says nothing. */
const LEAST_FILLS = 3
const WHOLE = 10n ** 12n

/** The fills of a pair of listed tokens, the earliest first. None of other tokens, and while there are few. */
export function fillsOf({ chainId, sell, buy, orders = [] }: TradedPair): readonly Fill[] {
  const [sold, bought] = [tokenOf(chainId, sell), tokenOf(chainId, buy)]
  if (!sold?.isListed || !bought?.isListed) return []
  const fills = fillsOfPair(orders, [sell, buy], [sold.decimals ?? 0, bought.decimals ?? 0])
  return fills.length < LEAST_FILLS ? [] : fills
}

/** Rounded as in lists. @param decimals of the token that was bought */
export const formatFillRate = (rate: number, decimals: number) =>
  formatRate(WHOLE, BigInt(Math.round(rate * 10 ** decimals * Number(WHOLE))), 0, decimals) ?? ''

/** How far the last of some fills is from the first, and in which time. */
export function Change({ fills }: { readonly fills: readonly Fill[] }) {
  const [first, last] = [fills[0], fills.at(-1)]
  if (first === undefined || last === undefined) return <span class="muted">–</span>
  const change = formatChange((last.rate / first.rate - 1) * 100, 2)
  return (
    <>
      <span class={change === '0.00' ? '' : last.rate < first.rate ? 'negative' : 'positive'}>
        {change}&#8239;%
      </span>{' '}
      in {formatSpan((last.at - first.at) * 1000)}
    </>
  )
}

/** The rate of a pair by its last fills, and their facts. Fills of one second are one point. */
export function RateChart(pair: TradedPair) {
  const known = fillsOf(pair)
  const [range, choose] = useState(RANGES.Latest)
  const [oldest = 0, newest = 0] = [known[0]?.at, known.at(-1)?.at]
  const all = known.filter(({ at }) => at >= newest - range)
  const fills = [...new Map(all.map((fill) => [fill.at, fill])).values()]
  const [first, last] = [fills[0], fills.at(-1)]
  const [sold, bought] = [pair.sell, pair.buy].map((token) => tokenOf(pair.chainId, token))
  const format = (rate: number) => formatFillRate(rate, bought?.decimals ?? 0)
  if (first === undefined || last === undefined) return null
  const rates = fills.map(({ rate }) => rate)
  const span = formatSpan((last.at - first.at) * 1000)
  return (
    <figure>
      <Plot
        title={`${bought?.symbol} for 1 ${sold?.symbol}, last of ${all.length} fills in ${span}`}
        unit={`${bought?.symbol} for 1 ${sold?.symbol}`}
        times={fills.map(({ at }) => at)}
        values={rates}
        format={format}
      >
        <div class="segments">
          {Object.entries(RANGES).map(([name, seconds]) => (
            <button
              key={name}
              type="button"
              aria-pressed={seconds === range}
              disabled={seconds >= newest - oldest && seconds !== RANGES.Latest}
              onClick={() => choose(seconds)}
            >
              {name}
            </button>
          ))}
        </div>
        <dl class="fact-row pair-facts">
          <Fact name="Change">
            <Change fills={fills} />
          </Fact>
          <Fact name="High">{format(Math.max(...rates))}</Fact>
          <Fact name="Low">{format(Math.min(...rates))}</Fact>
          <Fact name={`Volume in ${span}`}>
            {format(all.reduce((sum, { volume }) => sum + volume, 0))} {bought?.symbol}
          </Fact>
        </dl>
      </Plot>
      <figcaption>
        <FromTemplate id="rate-note" />
      </figcaption>
    </figure>
  )
}
