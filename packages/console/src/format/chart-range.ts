/** Of so many values, one at each end may be off the chart: anyone can trade with themselves at any price. */
const ONE_OUTLIER_IN = 40
/** Above and below the values. */
const MARGIN = 0.12
/** The least height, as a part of the values: a price that moves by some basis points is no cliff. */
const LEAST = 0.01

/** The lowest and the highest value that a chart shows. */
export function chartRange(values: readonly (number | undefined)[]): [number, number] {
  const sorted = values.flatMap((value) => value ?? []).toSorted((a, b) => a - b)
  const outliers = Math.floor(sorted.length / ONE_OUTLIER_IN)
  const low = sorted[outliers] ?? 0
  const high = sorted[sorted.length - 1 - outliers] ?? 1
  const margin = Math.max((high - low) * MARGIN, (high * LEAST - (high - low)) / 2)
  return [low - margin, high + margin]
}
