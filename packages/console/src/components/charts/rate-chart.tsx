import type { ComponentChildren } from 'preact'
import { OrderState } from '../../../../../gen/aggregator/v1/order_pb.js'
import { listOrders } from '../../data/orders/orders.js'
import { fillsOfPair } from '../../data/orders/pair-fills.js'
import { useQuery } from '../../data/query.js'
import { tokenOf } from '../../data/tokens/tokens.js'
import { formatSpan } from '../../format/time.js'
import { Plot } from './plot.js'

interface RateChartProps {
  readonly chainId: bigint
  readonly sell: string
  readonly buy: string
  readonly height: number
  /** What to know of such rates. */
  readonly children?: ComponentChildren
}

const LISTED = 200
const EVENT_PAUSE_MS = 30_000
/** A line of fewer points says nothing. */
const LEAST_FILLS = 3

const formatRate = (rate: number) =>
  rate
    .toLocaleString(
      'en',
      rate < 1 ? { maximumSignificantDigits: 6 } : { minimumFractionDigits: 2, maximumFractionDigits: 2 },
    )
    .replaceAll(',', '\u202f')

/** The rate of a pair of listed tokens by its fills. Nothing for other tokens, and while there are few fills. */
export function RateChart({ chainId, sell, buy, height, children }: RateChartProps) {
  const { data } = useQuery(
    `fills ${chainId}`,
    (signal) => listOrders(chainId, { state: OrderState.SETTLED, pageSize: LISTED }, signal),
    {
      refreshOn: (event) => event.type === 'Settled' && BigInt(event.chainId) === chainId,
      eventPauseMs: EVENT_PAUSE_MS,
    },
  )
  const [sold, bought] = [tokenOf(chainId, sell), tokenOf(chainId, buy)]
  if (!sold?.isListed || !bought?.isListed || data === undefined) return null
  const fills = fillsOfPair(data.orders, [sell, buy], [sold.decimals ?? 0, bought.decimals ?? 0])
  if (fills.length < LEAST_FILLS) return null
  const spanMs = ((fills.at(-1)?.at ?? 0) - (fills[0]?.at ?? 0)) * 1000
  return (
    <figure>
      <Plot
        title={`${bought.symbol} for 1 ${sold.symbol}, ${fills.length} fills in ${formatSpan(spanMs)}`}
        times={fills.map(({ at }) => at)}
        values={fills.map(({ rate }) => rate)}
        height={height}
        format={formatRate}
      />
      {children}
    </figure>
  )
}
