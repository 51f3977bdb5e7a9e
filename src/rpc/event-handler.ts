import { ConnectError, type HandlerContext } from '@connectrpc/connect'
import type { StreamEventsRequest, StreamEventsResponse } from '../../gen/aggregator/v1/event_pb.js'
import { toServiceError } from '../domain/errors.js'
import { toConnectError } from './connect-errors.js'
import { toConnectedMessage } from './convert-events.js'
import { END_TIMEOUT_MS, type EventStream, type EventStreams, type StreamProtocol } from './event-streams.js'
import { requestKey, toRpcContext } from './rpc-context.js'
import { sharedMessagesKey } from './shared-messages.js'

/** Builds Connect's handler of StreamEvents. It begins and ends the stream; `withSharedMessages` sends the events. */
export function toStreamHandler(streams: EventStreams) {
  return async function* (
    request: StreamEventsRequest,
    context: HandlerContext,
  ): AsyncGenerator<StreamEventsResponse> {
    const stream = await open(streams, request, context)
    const { subscription } = stream
    const { abandon, recordError } = context.values.get(requestKey)
    const leave = () => void stream.close()
    let endTimer: NodeJS.Timeout | undefined
    context.signal.addEventListener('abort', leave)
    if (context.signal.aborted) leave()
    subscription.ended.addEventListener('abort', () => {
      endTimer = setTimeout(abandon, END_TIMEOUT_MS).unref()
    })
    const ended = new Promise<unknown>((onEnd) => {
      const format = context.requestHeader.get('content-type')?.includes('json') ? 'json' : 'binary'
      context.values.set(sharedMessagesKey, { subscription, format, onEnd })
    })
    try {
      yield toConnectedMessage(streams.supportedChains, subscription.cursor())
      const thrown = await ended
      if (context.signal.aborted) throw ConnectError.from(context.signal.reason)
      const error = stream.close(thrown) ?? toServiceError(thrown)
      recordError(error)
      throw toConnectError(error)
    } finally {
      context.signal.removeEventListener('abort', leave)
      stream.close()
      clearTimeout(endTimer)
    }
  }
}

async function open(
  streams: EventStreams,
  request: StreamEventsRequest,
  context: HandlerContext,
): Promise<EventStream> {
  try {
    const { protocol, requestId, address } = toRpcContext(context)
    await streams.waitForCursor(request.after, address)
    return streams.open(request, { protocol: protocol as StreamProtocol, requestId, address })
  } catch (thrown) {
    const error = toServiceError(thrown)
    context.values.get(requestKey).recordError(error)
    throw toConnectError(error)
  }
}
