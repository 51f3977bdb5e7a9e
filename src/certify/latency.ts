import type { Latency } from './report.js'
import type { TrialReply } from './trial.js'

/** The percentiles of response times, by the nearest rank; in milliseconds with one decimal. */
export function latencyOf(replies: readonly Pick<TrialReply, 'tookMs'>[]): Latency {
  const sorted = replies.map(({ tookMs }) => tookMs).sort((one, other) => one - other)
  const percentile = (share: number) => {
    const rank = Math.max(1, Math.ceil(share * sorted.length))
    return Math.round((sorted[rank - 1] ?? 0) * 10) / 10
  }
  return { count: sorted.length, p50: percentile(0.5), p95: percentile(0.95), p99: percentile(0.99) }
}
