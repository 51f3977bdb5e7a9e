/** The order in which the endpoints of a chain are called. */
export interface EndpointOrder<E> {
  /** The endpoints in their configured order; those that gave no answer come after the others for some time. */
  endpoints(): readonly E[]
  /** Notes that an endpoint has answered, in whatever way. */
  markAnswered(endpoint: E): void
  /** Notes that an endpoint has failed. */
  markFailed(endpoint: E): void
  /**
   * Notes that a call was ended before its answer. Callers choose when they leave, and their tokens how long a call takes. So the
   * endpoint has failed only if it has answered no call for `silenceMs` since this one began.
   */
  markEnded(endpoint: E, begunAt: number, silenceMs: number): void
}

/** How long an endpoint that gave no answer comes after the others. */
const AVOID_MS = 10_000

/** Builds the order of these endpoints. @param now milliseconds that never go back */
export function createEndpointOrder<E>(configured: readonly E[], now: () => number): EndpointOrder<E> {
  const answeredAt = new Map<E, number>()
  const failedAt = new Map<E, number>()
  const isAvoided = (endpoint: E) => now() - (failedAt.get(endpoint) ?? Number.NEGATIVE_INFINITY) < AVOID_MS
  const markFailed = (endpoint: E) => void failedAt.set(endpoint, now())

  return {
    endpoints: () => [...configured].sort((a, b) => Number(isAvoided(a)) - Number(isAvoided(b))),
    markAnswered: (endpoint) => void answeredAt.set(endpoint, now()),
    markFailed,
    markEnded(endpoint, begunAt, silenceMs) {
      const heardAt = Math.max(begunAt, answeredAt.get(endpoint) ?? Number.NEGATIVE_INFINITY)
      if (now() - heardAt >= silenceMs) markFailed(endpoint)
    },
  }
}
