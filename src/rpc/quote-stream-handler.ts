import { create } from '@bufbuild/protobuf'
import { ConnectError, type HandlerContext } from '@connectrpc/connect'
import {
  type StreamQuotesRequest,
  type StreamQuotesResponse,
  StreamQuotesResponseSchema,
} from '../../gen/aggregator/v1/quote_pb.js'
import { toServiceError } from '../domain/errors.js'
import { toConnectError } from './connect-errors.js'
import type { StreamProtocol } from './event-streams.js'
import type { QuoteStreams } from './quote-streams.js'
import { requestKey, toRpcContext } from './rpc-context.js'

/** Builds Connect's handler of StreamQuotes. */
export function toQuoteStreamHandler(streams: QuoteStreams) {
  return async function* (
    request: StreamQuotesRequest,
    context: HandlerContext,
  ): AsyncGenerator<StreamQuotesResponse> {
    const { abandon, isDrained, recordError } = context.values.get(requestKey)
    let leave = () => {}
    try {
      const { protocol, ...call } = toRpcContext(context)
      const caller = { ...call, protocol: protocol as StreamProtocol, abandon, isDrained }
      const stream = streams.open(request, caller)
      leave = () => stream.leave()
      context.signal.addEventListener('abort', leave)
      if (context.signal.aborted) leave()
      for (;;) {
        const message = await stream.next()
        if (message === undefined) break
        yield create(StreamQuotesResponseSchema, { message })
      }
    } catch (thrown) {
      const error = toServiceError(thrown)
      recordError(error)
      throw toConnectError(error)
    } finally {
      context.signal.removeEventListener('abort', leave)
      leave()
    }
    if (context.signal.aborted) throw ConnectError.from(context.signal.reason)
  }
}
