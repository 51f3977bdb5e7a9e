import { create } from '@bufbuild/protobuf'
import { ConnectError, type HandlerContext } from '@connectrpc/connect'
import {
  type StreamQuotesRequest,
  type StreamQuotesResponse,
  StreamQuotesResponseSchema,
} from '../../gen/aggregator/v1/quote_pb.js'
import type { QuoteStreams } from './quote-streams.js'
import { requestKey, toRpcContext } from './rpc-context.js'

/** Builds Connect's handler of StreamQuotes. Connect asks for a message when the client has taken those before. */
export function toQuoteStreamHandler(streams: QuoteStreams) {
  return async function* (
    request: StreamQuotesRequest,
    context: HandlerContext,
  ): AsyncGenerator<StreamQuotesResponse> {
    const { abandon, isDrained, recordReached } = context.values.get(requestKey)
    recordReached()
    const { protocol, requestId, address, timeoutMs, traceparent, recordQuote } = toRpcContext(context)
    // Without a spread, after which each object would have a hidden class of its own in memory.
    const stream = streams.open(request, {
      protocol,
      requestId,
      address,
      timeoutMs,
      traceparent,
      recordQuote,
      abandon,
      isDrained,
    })
    // A generator is not continued, so that no `finally` runs, when its client leaves while a message waits for it.
    const leave = () => stream.leave()
    context.signal.addEventListener('abort', leave)
    if (context.signal.aborted) leave()
    for (;;) {
      const message = await stream.next()
      if (message === undefined) break
      yield create(StreamQuotesResponseSchema, { message })
    }
    if (context.signal.aborted) throw ConnectError.from(context.signal.reason)
  }
}
