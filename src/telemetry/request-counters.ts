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
  /** By method, protocol and reason. */
  const methods = new Map<string, Map<string, Map<string, number>>>()
  const durations = createBufferedHistogram(metrics.requestSeconds, 'method')

  return {
    of(method) {
      const protocols = mapIn(methods, method)
      const recordSeconds = durations.of(method)
      return (protocol, reason, seconds) => {
        const counts = mapIn(protocols, protocol)
        counts.set(reason, (counts.get(reason) ?? 0) + 1)
        recordSeconds(seconds)
      }
    },
    flush() {
      for (const [method, protocols] of methods)
        for (const [protocol, counts] of protocols) {
          for (const [reason, count] of counts) metrics.requests.inc({ method, protocol, reason }, count)
          counts.clear()
        }
      durations.flush()
    },
  }
}

/** The map at a key of another one. */
function mapIn<Value>(maps: Map<string, Map<string, Value>>, key: string): Map<string, Value> {
  const known = maps.get(key)
  if (known !== undefined) return known
  const map = new Map<string, Value>()
  maps.set(key, map)
  return map
}
