import type { Order } from '../../../../../gen/aggregator/v1/order_pb.js'
import { isOfPair } from '../tokens/pairs.js'

/** A fill of a pair. */
export interface Fill {
  /** Unix time in seconds. */
  readonly at: number
  /** What one whole token of the pair's first cost in the second, for drawing. */
  readonly rate: number
  /** How much of the pair's second token it was, in whole ones. */
  readonly volume: number
}

/** The fills of a pair in both directions, the earliest first. @param decimals of both tokens */
export function fillsOfPair(
  orders: readonly Order[],
  [sell, buy]: readonly [sell: string, buy: string],
  [sellDecimals, buyDecimals]: readonly [number, number],
): Fill[] {
  return orders
    .flatMap((order): Fill[] => {
      const { inputAmount, outputAmount, settled } = order
      const isForward = isOfPair(order, sell, buy)
      if (settled?.blockTime === undefined || (!isForward && !isOfPair(order, buy, sell))) return []
      const [sold, bought] = isForward ? [inputAmount, outputAmount] : [outputAmount, inputAmount]
      const rate = wholeRate([sold, sellDecimals], [bought, buyDecimals])
      const volume = Number(bought) / 10 ** buyDecimals
      return Number.isFinite(rate) ? [{ at: Number(settled.blockTime), rate, volume }] : []
    })
    .toSorted((a, b) => a.at - b.at)
}

/** What one whole token costs in whole ones of another, near enough to draw and to compare. @param sold with its decimals, as the bought */
export function wholeRate(
  [sold, soldDecimals]: readonly [string | undefined, number],
  [bought, boughtDecimals]: readonly [string | undefined, number],
): number {
  return Number(bought ?? 0) / 10 ** boughtDecimals / (Number(sold ?? 0) / 10 ** soldDecimals)
}
