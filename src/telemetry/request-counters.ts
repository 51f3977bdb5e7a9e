import { createBufferedHistogram } from './buffered-histogram.js'
import type { Metrics } from './metrics.js'

/** Counts answered requests, and gives the counts to the metrics when somebody asks for those. */
export interface RequestCounters {
  /** @returns counts a request of this method, with its seconds */
  of(method: string): (protocol: string, reason: string, seconds: number) => void
  /** Brings the metrics up to date. */
  flush(): void
}

/** Builds the tally: to find a series by its labels takes longer than most of what is done for a read. */
export function createRequestCounters(
  metrics: Pick<Metrics, 'requests' | 'requestSeconds'>,
): RequestCounters {
  const counts = new Map<string, number>()
  const durations = createBufferedHistogram(metrics.requestSeconds, 'method')

  return {
    of(method) {
      const noteSeconds = durations.of(method)
      return (protocol, reason, seconds) => {
        const key = `${method} ${protocol} ${reason}`
        counts.set(key, (counts.get(key) ?? 0) + 1)
        noteSeconds(seconds)
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
