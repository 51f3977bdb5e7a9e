import { createContextKey, type HandlerContext } from '@connectrpc/connect'
import type { ServiceError } from '../domain/errors.js'
import type { Protocol, QuoteSummary, RequestContext } from './method.js'

/** What the HTTP server knows of the request that a call came with. */
export const requestKey = createContextKey({
  id: '',
  ip: '',
  /** Cuts the connection, or on HTTP/2 the stream, of a client that does not read. */
  abandon: () => {},
  /** Notes what the answer says went wrong. */
  refuse: (_error: ServiceError) => {},
  /** Notes what came of a quote. */
  noteQuote: (_quote: QuoteSummary) => {},
})

/** The call of a Connect handler. */
export function toRpcContext(context: HandlerContext): RequestContext {
  const request = context.values.get(requestKey)
  return {
    protocol: context.protocolName as Protocol,
    requestId: request.id,
    address: request.ip,
    setHeader: (name, value) => context.responseHeader.set(name, value),
    noteQuote: request.noteQuote,
    isCancelled: () => context.signal.aborted,
    onCancelled(listener) {
      context.signal.addEventListener('abort', listener)
      return () => context.signal.removeEventListener('abort', listener)
    },
    timeoutMs: context.timeoutMs(),
  }
}
