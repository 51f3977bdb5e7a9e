import { type Order, OrderState } from '../../../../../gen/aggregator/v1/order_pb.js'
import { useQuery } from '../query.js'
import { isOfPair } from '../tokens/pairs.js'
import { listOrders } from './orders.js'

/** A fill of a pair. */
export interface Fill {
  /** Unix time in seconds. */
  readonly at: number
  /** What one whole token of the pair's first cost in the second, for drawing. */
  readonly rate: number
}

const LISTED = 200
const EVENT_PAUSE_MS = 30_000

/** The latest fills of a chain, newest first; undefined before they are read. */
export function useLatestFills(chainId: bigint): readonly Order[] | undefined {
  const { data } = useQuery(
    `fills ${chainId}`,
    (signal) => listOrders(chainId, { state: OrderState.SETTLED, pageSize: LISTED }, signal),
    {
      refreshOn: (event) => event.type === 'Settled' && BigInt(event.chainId) === chainId,
      eventPauseMs: EVENT_PAUSE_MS,
      unfollowedMs: 10 * EVENT_PAUSE_MS,
    },
  )
  return data?.orders
}

/** The fills of a pair in both directions, the earliest first. @param decimals of both tokens */
export function fillsOfPair(
  orders: readonly Order[],
  [sell, buy]: readonly [sell: string, buy: string],
  [sellDecimals, buyDecimals]: readonly [number, number],
): Fill[] {
  const whole = (amount: string | undefined, decimals: number) => Number(amount ?? 0) / 10 ** decimals
  return orders
    .flatMap((order): Fill[] => {
      const { inputAmount, outputAmount, settled } = order
      const isForward = isOfPair(order, sell, buy)
      if (settled?.blockTime === undefined || (!isForward && !isOfPair(order, buy, sell))) return []
      const [sold, bought] = isForward ? [inputAmount, outputAmount] : [outputAmount, inputAmount]
      const rate = whole(bought, buyDecimals) / whole(sold, sellDecimals)
      return Number.isFinite(rate) ? [{ at: Number(settled.blockTime), rate }] : []
    })
    .toSorted((a, b) => a.at - b.at)
}
