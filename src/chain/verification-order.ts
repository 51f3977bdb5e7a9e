import type { VerificationEndpoint } from './verification-endpoint.js'

/** The order in which the endpoints of a chain check offers. */
export interface VerificationOrder {
  /** The endpoints in their configured order; those that gave no answer come after the others for some time. */
  endpoints(): readonly VerificationEndpoint[]
  /** Notes that an endpoint has answered, in whatever way. */
  markAnswered(endpoint: VerificationEndpoint): void
  /** Notes that an endpoint has failed. */
  markFailed(endpoint: VerificationEndpoint): void
  /**
   * Notes that a call was ended before its answer. Callers choose when they leave, and their tokens how long a call takes. So the
   * endpoint has failed only if it has answered no call for `silenceMs` since this one began.
   */
  markEnded(endpoint: VerificationEndpoint, begunAt: number): void
}

interface VerificationOrderOptions {
  readonly silenceMs: number
  /** Milliseconds that never go back. */
  readonly clock: () => number
}

/** How long an endpoint that gave no answer comes after the others. */
const AVOID_MS = 10_000

/** Builds the order of these endpoints. */
export function createVerificationOrder(
  configured: readonly VerificationEndpoint[],
  { silenceMs, clock }: VerificationOrderOptions,
): VerificationOrder {
  const answeredAt = new Map<VerificationEndpoint, number>()
  const failedAt = new Map<VerificationEndpoint, number>()
  const isAvoided = (endpoint: VerificationEndpoint) =>
    clock() - (failedAt.get(endpoint) ?? Number.NEGATIVE_INFINITY) < AVOID_MS
  const markFailed = (endpoint: VerificationEndpoint) => void failedAt.set(endpoint, clock())

  return {
    endpoints: () => [...configured].sort((a, b) => Number(isAvoided(a)) - Number(isAvoided(b))),
    markAnswered: (endpoint) => void answeredAt.set(endpoint, clock()),
    markFailed,
    markEnded(endpoint, begunAt) {
      const heardAt = Math.max(begunAt, answeredAt.get(endpoint) ?? Number.NEGATIVE_INFINITY)
      if (clock() - heardAt >= silenceMs) markFailed(endpoint)
    },
  }
}
