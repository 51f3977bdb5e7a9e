import type { Histogram } from 'prom-client'

/** Keeps durations until somebody asks for the metrics: to find a series by its labels takes longer than to keep one. */
export interface BufferedHistogram {
  /** @returns takes the seconds of one series, that of this label's value */
  of(value: string): (seconds: number) => void
  /** Brings the metric up to date. */
  flush(): void
}

/** Durations of a series that are kept until then; a few milliseconds' work at once. */
const MAX_KEPT = 10_000

/** Builds the tally of a histogram with one label. */
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
