import { create } from '@bufbuild/protobuf'
import { ConnectError, type HandlerContext } from '@connectrpc/connect'
import {
  type StreamQuotesRequest,
  type StreamQuotesResponse,
  StreamQuotesResponseSchema,
} from '../../gen/aggregator/v1/quote_pb.js'
import { type ServiceError, toServiceError } from '../domain/errors.js'
import type { NextPart } from '../internals/continue-stream.js'
import { toConnectError } from './connect-errors.js'
import { continueAfterFirst, type Format, formatOf, toEnvelope } from './continuation.js'
import type { QuoteStreamMessage } from './convert-quote-streams.js'
import type { StreamProtocol } from './event-streams.js'
import type { OpenQuoteStream, QuoteStreams } from './quote-streams.js'
import { requestKey, toRpcContext } from './rpc-context.js'

/** Builds Connect's handler of StreamQuotes. It sends the first message; the others follow without Connect. */
export function toQuoteStreamHandler(streams: QuoteStreams) {
  return async function* (
    request: StreamQuotesRequest,
    context: HandlerContext,
  ): AsyncGenerator<StreamQuotesResponse> {
    const { recordReached, recordError } = context.values.get(requestKey)
    recordReached()
    const first = await openStream(streams, request, context).catch((thrown) => {
      const error = toServiceError(thrown)
      recordError(error)
      throw toConnectError(error)
    })
    if (first !== undefined) yield first
    else if (context.signal.aborted) throw ConnectError.from(context.signal.reason)
  }
}

/** @returns the first message; undefined when the client left before */
async function openStream(
  streams: QuoteStreams,
  request: StreamQuotesRequest,
  context: HandlerContext,
): Promise<StreamQuotesResponse | undefined> {
  const { abandon, isDrained, recordError } = context.values.get(requestKey)
  const { protocol, requestId, address, timeoutMs, traceparent, recordQuote } = toRpcContext(context)
  // Without a spread, after which each object would have a hidden class of its own in memory.
  const stream = streams.open(request, {
    protocol: protocol as StreamProtocol,
    requestId,
    address,
    timeoutMs,
    traceparent,
    recordQuote,
    abandon,
    isDrained,
  })
  const leave = () => stream.leave()
  context.signal.addEventListener('abort', leave)
  if (context.signal.aborted) leave()
  try {
    const message = await stream.next()
    if (message === undefined) return undefined
    continueAfterFirst(context, sendMessages(stream, recordError, formatOf(context)))
    return toResponse(message)
  } finally {
    // The signal is also aborted when Connect has sent the first message.
    context.signal.removeEventListener('abort', leave)
  }
}

function sendMessages(
  stream: OpenQuoteStream,
  recordError: (error: ServiceError) => void,
  format: Format,
): (signal: AbortSignal) => NextPart {
  return (signal) => {
    const leave = () => stream.leave()
    signal.addEventListener('abort', leave)
    if (signal.aborted) leave()
    return async () => {
      try {
        const message = await stream.next()
        if (message === undefined) return undefined
        return toEnvelope(StreamQuotesResponseSchema, toResponse(message), format)
      } catch (thrown) {
        const error = toServiceError(thrown)
        recordError(error)
        return toConnectError(error)
      }
    }
  }
}

function toResponse(message: QuoteStreamMessage): StreamQuotesResponse {
  return create(StreamQuotesResponseSchema, { message })
}
