import { createBufferedHistogram } from './buffered-histogram.js'
import type { Metrics } from './metrics.js'

/** Counts requests with a response, and adds the counts to the metrics when these are collected. */
export interface RequestCounters {
  /** @returns a function that counts a request of this method, with its seconds */
  of(method: string): (protocol: string, reason: string, seconds: number) => void
  /** Updates the metrics. */
  flush(): void
}

/** Builds the counters. They keep counts because to find a series by its labels takes longer than most of a read's work. */
export function createRequestCounters(
  metrics: Pick<Metrics, 'requests' | 'requestSeconds'>,
): RequestCounters {
  const counts = new Map<string, number>()
  const durations = createBufferedHistogram(metrics.requestSeconds, 'method')

  return {
    of(method) {
      const recordSeconds = durations.of(method)
      return (protocol, reason, seconds) => {
        const key = `${method} ${protocol} ${reason}`
        counts.set(key, (counts.get(key) ?? 0) + 1)
        recordSeconds(seconds)
      }
    },
    flush() {
      for (const [key, count] of counts) {
        const [method = '', protocol = '', reason = ''] = key.split(' ')
        metrics.requests.inc({ method, protocol, reason }, count)
      }
      counts.clear()
      durations.flush()
    },
  }
}
