/** A node has asked for a pause that is not over yet: it was not asked again. */
export class EndpointPausedError extends Error {
  override readonly name = 'EndpointPausedError'

  constructor(leftMs: number) {
    super(`the endpoint asks for a pause (Retry-After), of which ${Math.ceil(leftMs / 1000)} s are left`)
  }
}

/** Statuses whose `Retry-After` is a request to wait (RFC 6585, section 4; RFC 9110, section 15.6.4). */
const STATUSES = [429, 503]
const MAX_PAUSE_MS = 60_000

/**
 * How long a node wants not to be asked (RFC 9110, section 10.2.3: a number of seconds, or an HTTP date).
 * @param header the value of `Retry-After`; null without it
 * @param nowMs Unix time in milliseconds
 * @returns milliseconds, at most a minute; 0 when it does not say, or nothing that can be read
 */
export function pauseMs(status: number, header: string | null, nowMs: number): number {
  if (!STATUSES.includes(status) || header === null) return 0
  const wanted = /^\d+$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - nowMs
  return Number.isNaN(wanted) ? 0 : Math.min(MAX_PAUSE_MS, Math.max(0, wanted))
}
