import type { Endpoint } from '../../../packages/chain/src/rpc-endpoint.js'

/** Selects the endpoint of a chain to poll: the first one, unless it fails, lags or is stuck. */
export interface EndpointSelector {
  /** The endpoint in use. */
  current(): Endpoint
  /** Index of the endpoint in use, in the configured order. */
  index(): number
  /** The endpoint for the next poll. @param hasSucceeded whether the last poll of the current one succeeded */
  next(hasSucceeded: boolean): Endpoint
  /** Notes that the endpoint in use has had a new head. */
  markHead(): void
  /** Switches from the endpoint in use to the next one. */
  markFailed(): void
}

/** Time without a new head after which another endpoint is used, because this one may be stuck. */
const STUCK_MS = 60_000
/** Time after which the first endpoint is tried again. */
const PREFERENCE_MS = 60_000
const MAX_BACKOFF_MS = 10_000

/** Builds the selector. It begins with the first endpoint. */
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
    next(hasSucceeded) {
      const now = performance.now()
      if (index !== 0 && hasSucceeded && now - takenAt > PREFERENCE_MS) take(0)
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
 * The pause after a number of failures in a row. It is 0 while an endpoint has not been tried. After each round over
 * all endpoints it doubles, with jitter, so that instances do not retry at the same time.
 */
export function backoffMs(failures: number, endpoints: number, pollIntervalMs: number): number {
  if (failures % endpoints !== 0) return 0
  const rounds = failures / endpoints
  const longest = Math.min(MAX_BACKOFF_MS, Math.min(1000, pollIntervalMs) * 2 ** Math.min(rounds - 1, 10))
  return longest * (0.5 + Math.random() / 2)
}
