import { ServiceError } from '../domain/errors.js'
import type { Sleepers } from './sleepers.js'
import type { Subscriber } from './subscriber.js'

interface PaceMonitorOptions {
  readonly subscribers: ReadonlySet<Subscriber>
  readonly sleepers: Sleepers
  /** Called for each subscriber that is too slow. */
  readonly onSlow: () => void
}

const CHECK_INTERVAL_MS = 1000

/** Ends subscribers that are too slow, and wakes those that have slept long enough. @returns the function that stops it */
export function startPaceMonitor({ subscribers, sleepers, onSlow }: PaceMonitorOptions): () => void {
  const timer = setInterval(() => {
    const now = performance.now()
    sleepers.wakeDue(now)
    for (const subscriber of subscribers) {
      if (!subscriber.pace.isTooSlow(now)) continue
      onSlow()
      subscriber.end(new ServiceError('SUBSCRIBER_TOO_SLOW', 'This client is too slow for the events.'))
    }
  }, CHECK_INTERVAL_MS)
  return () => clearInterval(timer)
}
