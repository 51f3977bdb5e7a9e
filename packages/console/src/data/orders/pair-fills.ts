import type { Order } from '../../../../../gen/aggregator/v1/order_pb.js'
import { isOfPair } from '../tokens/pairs.js'

/** A fill of a pair. */
export interface Fill {
  /** Unix time in seconds. */
  readonly at: number
  /** What one whole token of the pair's first cost in the second, for drawing. */
  readonly rate: number
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
