import type { Address } from './values/hex.js'

/** The protocol of a call, as metrics name it. */
export type Protocol = 'rest' | 'connect' | 'grpc' | 'grpc-web' | 'websocket' | 'sse'

/** One call of a client, over any protocol. What needs a part of it takes a `Pick`. */
export interface CallContext {
  readonly protocol: Protocol
  readonly requestId: string
  /** IP address of the client. */
  readonly address: string
  /** The value of the request's `Host` or `:authority`. */
  readonly host: string
  /** Aborted when the client cancels its request or loses its connection. */
  readonly signal: AbortSignal
  /** The client's own deadline in milliseconds from the start of the call; undefined without one. */
  readonly timeoutMs: number | undefined
  /** The `traceparent` that it sent for its solvers (W3C Trace Context). */
  readonly traceparent?: string | undefined
  /** Sets a header of the response. A name in lower case takes less time. */
  setHeader(name: string, value: string): void
  /** Adds the result of a quote to the log's line of the request. */
  recordQuote(quote: QuoteSummary): void
  /** Whether everything that was sent has left this process. */
  isDrained(): boolean
  /** Ends the connection, or on HTTP/2 the stream, of a client that does not read. */
  abandon(): void
}

/** The result of a quote in the log's line of its request. */
export interface QuoteSummary {
  readonly quoteId: string
  /** The solver of the best offer. */
  readonly winner: Address
  /** Number of valid offers. */
  readonly offers: number
}

/** A client as limits count it: an IPv4 address or an IPv6 /64 (docs/decisions.md, D8), with the networks around it. */
export interface ClientId {
  /** An IPv4-mapped IPv6 address has the key of the IPv4 address. */
  readonly key: string
  /** The /56 and the /48 around an IPv6 client, which one person may own entirely; empty for an IPv4 client. */
  readonly networks: readonly ClientNetwork[]
  /** The IPv6 /32 or the IPv4 /16 around the client, which one provider owns. */
  readonly region: string
  readonly isIpv6: boolean
  /** Whether the address belongs to this machine or a private network, where strangers on the internet have none. */
  readonly isPrivate: boolean
}

/** An IPv6 network that has a limit of its own (docs/decisions.md, D14). */
export interface ClientNetwork {
  readonly key: string
  readonly prefixLength: 56 | 48
}

/** Limit of a network, as a multiple of one client's limit. */
export const NETWORK_FACTORS: Readonly<Record<ClientNetwork['prefixLength'], number>> = { 56: 4, 48: 16 }

/** The process itself, as a subscriber of its own log. */
export const THIS_PROCESS: ClientId = { key: '', networks: [], region: '', isIpv6: false, isPrivate: true }
