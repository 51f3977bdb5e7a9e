/** How long a client may take, in milliseconds. The server ends the connection of a slower one. */
export interface ClientTimeouts {
  /** To show which protocol it speaks, and to send a request's headers. */
  readonly headersMs: number
  /** To send a whole request. */
  readonly requestMs: number
  /** Until its next request on the same connection. */
  readonly keepAliveMs: number
  /** To answer an HTTP/2 ping. While requests are open, the server sends a ping at this interval. */
  readonly pingMs: number
  /** To read a part of a response that waits to be sent; on HTTP/2 up to twice as long. */
  readonly stalledMs: number
  /** To read responses when so many wait, because the client sent requests ahead, that the server reads no more. */
  readonly pausedMs: number
  /** To read the open responses on an HTTP/2 session that was closed. */
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
