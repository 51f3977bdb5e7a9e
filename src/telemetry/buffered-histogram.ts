import type { Histogram } from 'prom-client'

/** Keeps durations until the metrics are collected: to find a series by its labels takes longer than to keep a number. */
export interface BufferedHistogram {
  /** @returns a function that records the seconds of the series with this label value */
  of(value: string): (seconds: number) => void
  /** Updates the metric. */
  flush(): void
}

/** The most durations that a series keeps. To record them takes a few milliseconds. */
const MAX_KEPT = 10_000

/** Builds the buffer of a histogram with one label. */
export function createBufferedHistogram<L extends string>(
  histogram: Histogram<L>,
  label: L,
): BufferedHistogram {
  const series = new Map<string, number[]>()

  function flushSeries(value: string, kept: number[]): void {
    for (const seconds of kept) histogram.observe({ [label]: value } as Record<L, string>, seconds)
    kept.length = 0
  }

  return {
    of(value) {
      const kept = series.get(value) ?? []
      series.set(value, kept)
      return (seconds) => {
        if (kept.push(seconds) >= MAX_KEPT) flushSeries(value, kept)
      }
    },
    flush() {
      for (const [value, kept] of series) flushSeries(value, kept)
    },
  }
}
