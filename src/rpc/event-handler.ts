import { ConnectError, type HandlerContext } from '@connectrpc/connect'
import type { StreamEventsRequest, StreamEventsResponse } from '../../gen/aggregator/v1/event_pb.js'
import { toServiceError } from '../domain/errors.js'
import { toConnectError } from './connect-errors.js'
import { toConnectedMessage } from './convert-events.js'
import { type EventStream, type EventStreams, FAREWELL_MS, type StreamProtocol } from './event-streams.js'
import { malformedMessage, stageKey } from './malformed-request.js'
import { requestKey, toRpcContext } from './rpc-context.js'
import { sharedMessagesKey } from './shared-messages.js'

/** StreamEvents as Connect's router takes it: how the stream begins and ends; `withSharedMessages` does the rest. */
export function toStreamHandler(streams: EventStreams) {
  return async function* (
    request: StreamEventsRequest,
    context: HandlerContext,
  ): AsyncGenerator<StreamEventsResponse> {
    const stream = await open(streams, request, context)
    const { abandon, refuse } = context.values.get(requestKey)
    const leave = () => void stream.close()
    let farewell: NodeJS.Timeout | undefined
    context.signal.addEventListener('abort', leave)
    if (context.signal.aborted) leave()
    stream.ended.addEventListener('abort', () => {
      farewell = setTimeout(abandon, FAREWELL_MS).unref()
    })
    const ended = new Promise<unknown>((onEnd) => {
      const format = context.requestHeader.get('content-type')?.includes('json') ? 'json' : 'binary'
      context.values.set(sharedMessagesKey, { stream, format, onEnd })
    })
    try {
      yield toConnectedMessage(streams.supportedChains, stream.cursor())
      const thrown = await ended
      if (context.signal.aborted) throw ConnectError.from(context.signal.reason)
      const error = stream.close(thrown) ?? toServiceError(thrown)
      refuse(error)
      throw toConnectError(error)
    } finally {
      context.signal.removeEventListener('abort', leave)
      stream.close()
      clearTimeout(farewell)
    }
  }
}

async function open(
  streams: EventStreams,
  request: StreamEventsRequest,
  context: HandlerContext,
): Promise<EventStream> {
  try {
    const call = toRpcContext(context)
    const isReadable = context.values.get(stageKey) !== 'unreadable'
    if (isReadable) context.values.set(stageKey, 'reached')
    await streams.checkLimits(call)
    const { requestId, address } = call
    await streams.waitForCursor(request.after, address)
    const caller = { protocol: call.protocol as StreamProtocol, requestId, address }
    return streams.open(request, caller, isReadable ? [] : [malformedMessage(streams.desc)])
  } catch (thrown) {
    const error = toServiceError(thrown)
    context.values.get(requestKey).refuse(error)
    throw toConnectError(error)
  }
}
