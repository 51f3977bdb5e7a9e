import type { Clock } from '../../../packages/protocol/src/clock.js'
import type { Logger } from '../../telemetry/log.js'
import type { Metrics } from '../../telemetry/metrics.js'
import type { RateLimits } from '../limits/rate-limits.js'
import type { StreamSlots } from '../limits/stream-slots.js'

/** What the methods that stream share. */
export interface StreamContext {
  readonly supportedChains: readonly number[]
  readonly rateLimits: RateLimits
  readonly slots: StreamSlots
  readonly metrics: Metrics
  readonly clock: Clock
  readonly log: Logger
}
