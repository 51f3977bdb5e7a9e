import type { Address } from '../../packages/protocol/src/values/hex.js'
import type { ClientId } from './client-id.js'

/** The protocol of a call, as metrics name it. */
export type Protocol = 'rest' | 'connect' | 'grpc' | 'grpc-web' | 'websocket' | 'sse'

/** The part of an AbortSignal that a call needs. To make whole ones for a quote takes a fiftieth of its CPU. */
export interface CallSignal {
  readonly aborted: boolean
  addEventListener(type: 'abort', listener: () => void): void
  removeEventListener(type: 'abort', listener: () => void): void
}

/** One call of a client, over any protocol. What needs a part of it takes a `Pick`. */
export interface CallContext {
  readonly protocol: Protocol
  readonly requestId: string
  readonly client: ClientId
  /** The value of the request's `Host` or `:authority`. */
  readonly host: string
  /** Aborted when the client cancels its request or loses its connection. */
  readonly signal: CallSignal
  /** The client's own deadline in milliseconds from the start of the call; undefined without one. */
  readonly timeoutMs: number | undefined
  /** The parent of its traces, which it sent (W3C Trace Context). */
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
