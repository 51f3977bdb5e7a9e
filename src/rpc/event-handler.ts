import type { HandlerContext } from '@connectrpc/connect'
import type { StreamEventsRequest, StreamEventsResponse } from '../../gen/aggregator/v1/event_pb.js'
import { toServiceError } from '../domain/errors.js'
import { toConnectError } from './connect-errors.js'
import { toConnectedMessage, toEventMessage, toHeartbeatMessage } from './convert-events.js'
import { type EventStream, type EventStreams, FAREWELL_MS, type StreamProtocol } from './event-streams.js'
import { requestKey, toCall } from './request-context.js'
import { stageKey, unreadableMessage } from './unreadable.js'

/** StreamEvents as Connect's router takes it. */
export function toStreamHandler(streams: EventStreams) {
  return async function* (
    request: StreamEventsRequest,
    context: HandlerContext,
  ): AsyncGenerator<StreamEventsResponse> {
    const stream = await open(streams, request, context)
    const { abandon } = context.values.get(requestKey)
    const leave = () => void stream.close()
    let farewell: NodeJS.Timeout | undefined
    context.signal.addEventListener('abort', leave)
    stream.ended.addEventListener('abort', () => {
      farewell = setTimeout(abandon, FAREWELL_MS)
    })
    try {
      yield toConnectedMessage(streams.supportedChains, stream.cursor())
      for (;;) {
        const batch = await stream.next()
        if (batch.length === 0) yield toHeartbeatMessage(stream.cursor())
        for (const entry of batch) yield toEventMessage(entry)
      }
    } catch (thrown) {
      throw toConnectError(stream.close(thrown) ?? toServiceError(thrown))
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
    const call = toCall(context)
    const isReadable = context.values.get(stageKey) !== 'unreadable'
    if (isReadable) context.values.set(stageKey, 'reached')
    await streams.admit(call)
    const unreadable = isReadable ? [] : [unreadableMessage(streams.desc)]
    return streams.open(
      request,
      { protocol: call.protocol as StreamProtocol, requestId: call.requestId },
      unreadable,
    )
  } catch (thrown) {
    throw toConnectError(toServiceError(thrown))
  }
}
