/** How long a client may take, in milliseconds; a slower one is dropped. */
export interface ClientTimeouts {
  /** To say which protocol it speaks, and to send a request's headers. */
  readonly headersMs: number
  /** To send a whole request. */
  readonly requestMs: number
  /** Until its next request on the same connection. */
  readonly keepAliveMs: number
  /** To answer a ping of HTTP/2, sent as often while something is under way. */
  readonly pingMs: number
  /** To take some of an answer that waits to be sent; on HTTP/2 up to twice as long. */
  readonly stalledMs: number
  /** To let the answers move on that pile up because it sent requests ahead. */
  readonly pausedMs: number
  /** To take what is under way on a session of HTTP/2 that was closed. */
  readonly closeMs: number
}

export const DEFAULT_TIMEOUTS: ClientTimeouts = {
  headersMs: 10_000,
  requestMs: 15_000,
  keepAliveMs: 65_000,
  pingMs: 30_000,
  stalledMs: 15_000,
  pausedMs: 1500,
  closeMs: 10_000,
}
