/** The pause after a refusal of the node is not over yet, so no request was sent. */
export class EndpointPausedError extends Error {
  override readonly name = 'EndpointPausedError'

  constructor(leftMs: number) {
    super(`the endpoint has refused calls: none is sent for ${Math.ceil(leftMs / 1000)} s`)
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
  /** Reads a response of the node: its status and its header `Retry-After`. */
  note(status: number, retryAfter: string | null | undefined): void
  /** Begins the shortest pause, unless a longer one lasts. */
  begin(): void
  /** @throws EndpointPausedError while the pause lasts */
  assertOver(): void
}

/**
 * Builds the memory of one endpoint.
 * @param shortestMs the pause after a refusal that asks for none, or for a shorter one
 */
export function createRetryAfterPause(shortestMs = 0): RetryAfterPause {
  let pausedUntil = Number.NEGATIVE_INFINITY
  const pauseFor = (ms: number) => {
    if (ms > 0) pausedUntil = Math.max(pausedUntil, performance.now() + ms)
  }
  return {
    note(status, retryAfter) {
      if (!STATUSES.includes(status)) return
      pauseFor(Math.max(shortestMs, retryAfterMs(status, retryAfter ?? null, Date.now())))
    },
    begin: () => pauseFor(shortestMs),
    assertOver() {
      const leftMs = pausedUntil - performance.now()
      if (leftMs > 0) throw new EndpointPausedError(leftMs)
    },
  }
}
