import { createContextKey, type HandlerContext } from '@connectrpc/connect'
import type { ServiceError } from '../../packages/protocol/src/errors.js'
import type { CallContext } from '../clients/call.js'
import { THIS_PROCESS } from '../clients/client-id.js'

/** What the HTTP server knows about the request of an RPC call. */
export interface RpcRequest
  extends Pick<
    CallContext,
    'protocol' | 'requestId' | 'client' | 'traceparent' | 'recordQuote' | 'isDrained' | 'abandon'
  > {
  /** The value of the request's `Host` or `:authority`. */
  hostOf(): string
  /** Bytes of the response that have not left this process. */
  unsentBytes(): number
  /** Lets the call last although its client goes on sending messages. */
  keepOpen(): void
  /** Records that the call has reached its method, which counts it. */
  recordReached(): void
  /** Records the error of the response. */
  recordError(error: ServiceError): void
}

/** The key by which Connect carries the request to its handler. The default is that of a call in memory. */
export const requestKey = createContextKey<RpcRequest>({
  protocol: 'connect',
  requestId: '',
  client: THIS_PROCESS,
  recordQuote: () => {},
  isDrained: () => true,
  abandon: () => {},
  hostOf: () => '',
  unsentBytes: () => 0,
  keepOpen: () => {},
  recordReached: () => {},
  recordError: () => {},
})

/** The context of a Connect handler's call. */
export function toCallContext(context: HandlerContext): CallContext {
  const request = context.values.get(requestKey)
  const { protocol, requestId, client, traceparent, recordQuote, isDrained, abandon } = request
  return {
    protocol,
    requestId,
    client,
    host: request.hostOf(),
    signal: context.signal,
    timeoutMs: context.timeoutMs(),
    traceparent,
    setHeader: (name, value) => context.responseHeader.set(name, value),
    recordQuote,
    isDrained,
    abandon,
  }
}
