import type { Endpoint } from './rpc-client.js'

/** Which of a chain's endpoints to look at: the first one, unless it fails, lags or is stuck. */
export interface EndpointSelector {
  /** The endpoint in use. */
  current(): Endpoint
  /** Index of the endpoint in use, in the order given. */
  index(): number
  /** The endpoint for the next look. @param isTrusted whether the one in use answered last time */
  next(isTrusted: boolean): Endpoint
  /** Notes that the endpoint in use has had something new. */
  markHead(): void
  /** Turns from the endpoint in use to the one behind it. */
  markFailed(): void
}

/** Without a new head for so long, another endpoint is asked: this one may be stuck. */
const STUCK_MS = 60_000
/** How long to stay with another endpoint before the first one is tried again. */
const PREFERENCE_MS = 60_000
const MAX_BACKOFF_MS = 10_000

/** Builds the choice, beginning with the first endpoint. */
export function createEndpointSelector(
  endpoints: readonly Endpoint[],
  pollIntervalMs: number,
): EndpointSelector {
  const stuckMs = Math.max(STUCK_MS, pollIntervalMs * 3)
  let index = 0
  let takenAt = performance.now()
  let headSeenAt = takenAt

  function take(next: number): void {
    index = next % endpoints.length
    takenAt = performance.now()
    headSeenAt = takenAt
  }

  return {
    current: () => endpoints[index] as Endpoint,
    index: () => index,
    next(isTrusted) {
      const now = performance.now()
      if (index !== 0 && isTrusted && now - takenAt > PREFERENCE_MS) take(0)
      else if (now - headSeenAt > stuckMs) take(index + 1)
      return endpoints[index] as Endpoint
    },
    markHead() {
      headSeenAt = performance.now()
    },
    markFailed: () => take(index + 1),
  }
}

/**
 * How long to wait after so many failures in a row: not at all while there is an endpoint that was not tried, then
 * twice as long with every round, with jitter, so that instances do not all come back at once.
 */
export function backoffMs(failures: number, endpoints: number, pollIntervalMs: number): number {
  if (failures % endpoints !== 0) return 0
  const rounds = failures / endpoints
  const longest = Math.min(MAX_BACKOFF_MS, Math.min(1000, pollIntervalMs) * 2 ** Math.min(rounds - 1, 10))
  return longest * (0.5 + Math.random() / 2)
}
