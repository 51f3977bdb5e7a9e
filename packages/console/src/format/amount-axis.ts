import { niceAbove } from './time-axis.js'

/** Places differences from the best offer on an axis: equal distances are equal heights. */
interface AmountAxis {
  /** @param bps at most 0 @returns 0 for the best offer to 1 for the end of the axis; undefined for one that is far off */
  place(bps: number): number | undefined
  /** Labelled differences, the best one first. */
  readonly ticks: readonly number[]
}

/** An offer that is this much further from the best than the one before it does not fit on the same axis. */
const FAR = 6
const STEPS = 3

/** Makes the axis. An offer far from all others would leave no room between those. @param differences in basis points, at most 0 */
export function createAmountAxis(differences: readonly number[]): AmountAxis {
  const distances = differences.map((bps) => -bps).toSorted((a, b) => a - b)
  let last = 0
  for (const distance of distances) if (last === 0 || distance <= last * FAR) last = distance
  if (last === 0) return { place: () => 0, ticks: differences.length === 0 ? [] : [0] }
  const step = niceAbove(last / STEPS)
  const end = Math.ceil(last / step - 0.001) * step
  return {
    place: (bps) => (-bps <= end ? Math.abs(bps) / end : undefined),
    ticks: Array.from({ length: Math.round(end / step) + 1 }, (_, index) =>
      index === 0 ? 0 : -index * step,
    ),
  }
}
