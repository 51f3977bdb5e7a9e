import { create } from '@bufbuild/protobuf'
import { ConnectError, type HandlerContext } from '@connectrpc/connect'
import {
  type StreamQuotesRequest,
  type StreamQuotesResponse,
  StreamQuotesResponseSchema,
} from '../../../gen/aggregator/v1/quote_pb.js'
import { requestKey, toCallContext } from '../call-context.js'
import type { QuoteStreams } from './quote-streams.js'

/** Builds Connect's handler of StreamQuotes. Connect asks for a message when the client has taken those before. */
export function toQuoteStreamHandler(streams: QuoteStreams) {
  return async function* (
    request: StreamQuotesRequest,
    context: HandlerContext,
  ): AsyncGenerator<StreamQuotesResponse> {
    context.values.get(requestKey).recordReached()
    const messages = streams.open(request, toCallContext(context))
    for await (const message of messages) yield create(StreamQuotesResponseSchema, { message })
    if (context.signal.aborted) throw ConnectError.from(context.signal.reason)
  }
}
