/** The node has asked for a pause that is not over yet, so no request was sent. */
export class EndpointPausedError extends Error {
  override readonly name = 'EndpointPausedError'

  constructor(leftMs: number) {
    super(`the endpoint asked for a pause (Retry-After) that lasts ${Math.ceil(leftMs / 1000)} s longer`)
  }
}

/** Statuses whose `Retry-After` is a request to wait (RFC 6585, section 4; RFC 9110, section 15.6.4). */
const STATUSES = [429, 503]
const MAX_PAUSE_MS = 60_000

/**
 * The pause that a node asks for (RFC 9110, section 10.2.3: a number of seconds, or an HTTP date).
 * @param header the value of `Retry-After`; null without it
 * @param nowMs Unix time in milliseconds
 * @returns milliseconds, at most a minute; 0 when the header is absent or malformed
 */
export function retryAfterMs(status: number, header: string | null, nowMs: number): number {
  if (!STATUSES.includes(status) || header === null) return 0
  const wanted = /^\d+$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - nowMs
  return Number.isNaN(wanted) ? 0 : Math.min(MAX_PAUSE_MS, Math.max(0, wanted))
}

/** Remembers the pause that a node asks for. */
export interface RetryAfterPause {
  /** Reads a response of the node. */
  note(response: Pick<Response, 'status' | 'headers'>): void
  /** @throws EndpointPausedError while the pause lasts */
  assertOver(): void
}

/** Builds the memory of one endpoint. */
export function createRetryAfterPause(): RetryAfterPause {
  let pausedUntil = Number.NEGATIVE_INFINITY
  return {
    note({ status, headers }) {
      const pause = retryAfterMs(status, headers.get('retry-after'), Date.now())
      if (pause > 0) pausedUntil = performance.now() + pause
    },
    assertOver() {
      const leftMs = pausedUntil - performance.now()
      if (leftMs > 0) throw new EndpointPausedError(leftMs)
    },
  }
}
