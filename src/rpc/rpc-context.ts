import { createContextKey, type HandlerContext } from '@connectrpc/connect'
import type { ServiceError } from '../domain/errors.js'
import type { QuoteSummary, RequestContext, RpcProtocol } from './method.js'
import { readTraceparent } from './traceparent.js'

/** What the HTTP server knows about the request of a call. */
export const requestKey = createContextKey({
  id: '',
  ip: '',
  protocol: 'connect' as RpcProtocol,
  /** Cuts the connection, or on HTTP/2 the stream, of a client that does not read. */
  abandon: () => {},
  /** Whether everything that was sent has left this process. */
  isDrained: () => true as boolean,
  /** Bytes of the response that have not left this process. */
  unsentBytes: () => 0,
  /** Lets the call last although its client goes on sending messages. */
  keepOpen: () => {},
  /** The value of the request's `Host` or `:authority`. */
  hostOf: () => '',
  /** Records that the call has reached its method, which counts it. */
  recordReached: () => {},
  /** Records the error of the response. */
  recordError: (_error: ServiceError) => {},
  /** Records the result of a quote. */
  recordQuote: (_quote: QuoteSummary) => {},
})

/** The context of a Connect handler's call. */
export function toRpcContext(context: HandlerContext): RequestContext & { readonly protocol: RpcProtocol } {
  const request = context.values.get(requestKey)
  return {
    protocol: request.protocol,
    requestId: request.id,
    address: request.ip,
    host: request.hostOf(),
    setHeader: (name, value) => context.responseHeader.set(name, value),
    recordQuote: request.recordQuote,
    signal: context.signal,
    timeoutMs: context.timeoutMs(),
    traceparent: readTraceparent(context.requestHeader.get('traceparent')),
  }
}
