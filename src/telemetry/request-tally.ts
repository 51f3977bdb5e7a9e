import type { Metrics } from './metrics.js'

/** Counts answered requests, and gives the counts to the metrics when somebody asks for those. */
export interface RequestTally {
  /** @returns counts a request of this method, with its seconds */
  of(method: string): (protocol: string, reason: string, seconds: number) => void
  /** Brings the metrics up to date. */
  flush(): void
}

/** Requests of a method whose durations are kept until then; a few milliseconds' work at once. */
const MAX_KEPT = 10_000

/** Builds the tally: to find a series by its labels takes longer than most of what is done for a read. */
export function createRequestTally(metrics: Pick<Metrics, 'requests' | 'requestSeconds'>): RequestTally {
  const counts = new Map<string, number>()
  const durations = new Map<string, number[]>()

  function flushDurations(method: string, kept: number[]): void {
    for (const seconds of kept) metrics.requestSeconds.observe({ method }, seconds)
    kept.length = 0
  }

  return {
    of(method) {
      const kept: number[] = []
      durations.set(method, kept)
      return (protocol, reason, seconds) => {
        const key = `${method} ${protocol} ${reason}`
        counts.set(key, (counts.get(key) ?? 0) + 1)
        if (kept.push(seconds) >= MAX_KEPT) flushDurations(method, kept)
      }
    },
    flush() {
      for (const [key, count] of counts) {
        const [method = '', protocol = '', reason = ''] = key.split(' ')
        metrics.requests.inc({ method, protocol, reason }, count)
      }
      counts.clear()
      for (const [method, kept] of durations) flushDurations(method, kept)
    },
  }
}
