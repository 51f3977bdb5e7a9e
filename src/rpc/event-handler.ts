import type { HandlerContext } from '@connectrpc/connect'
import {
  type StreamEventsRequest,
  type StreamEventsResponse,
  StreamEventsResponseSchema,
} from '../../gen/aggregator/v1/event_pb.js'
import { type ServiceError, toServiceError } from '../domain/errors.js'
import type { NextPart } from '../internals/continue-stream.js'
import { toConnectError } from './connect-errors.js'
import { continueAfterFirst, type Format, formatOf, toEnvelope } from './continuation.js'
import { toConnectedMessage, toHeartbeatMessage } from './convert-events.js'
import { END_TIMEOUT_MS, type EventStream, type EventStreams, type StreamProtocol } from './event-streams.js'
import { requestKey, toRpcContext } from './rpc-context.js'
import { sharedEnvelope, sharedEnvelopes } from './shared-messages.js'

/** Builds Connect's handler of StreamEvents. It sends the first message; the events follow without Connect. */
export function toStreamHandler(streams: EventStreams) {
  return async function* (
    request: StreamEventsRequest,
    context: HandlerContext,
  ): AsyncGenerator<StreamEventsResponse> {
    const { abandon, recordReached, recordError } = context.values.get(requestKey)
    recordReached()
    const stream = await open(streams, request, context)
    continueAfterFirst(context, sendEvents(stream, { abandon, recordError, format: formatOf(context) }))
    yield toConnectedMessage(streams.supportedChains, stream.subscription.cursor())
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

interface Sending {
  /** Ends the stream of a client that does not read its end. */
  readonly abandon: () => void
  readonly recordError: (error: ServiceError) => void
  readonly format: Format
}

function sendEvents(
  stream: EventStream,
  { abandon, recordError, format }: Sending,
): (signal: AbortSignal) => NextPart {
  const { subscription } = stream
  return (signal) => {
    let endTimer: NodeJS.Timeout | undefined
    subscription.ended.addEventListener('abort', () => {
      endTimer = setTimeout(abandon, END_TIMEOUT_MS).unref()
    })
    const leave = () => {
      stream.close()
      clearTimeout(endTimer)
    }
    signal.addEventListener('abort', leave)
    if (signal.aborted) leave()
    const dueHealth = () => {
      const health = stream.dueHealth()
      return health && sharedEnvelope(health, format)
    }
    return async () => {
      try {
        const health = dueHealth()
        if (health !== undefined) return health
        const batch = await stream.next()
        if (batch.length > 0) return sharedEnvelopes(batch, format)
        return (
          dueHealth() ??
          toEnvelope(StreamEventsResponseSchema, toHeartbeatMessage(subscription.cursor()), format)
        )
      } catch (thrown) {
        clearTimeout(endTimer)
        if (signal.aborted) return undefined
        const error = stream.close(thrown) ?? toServiceError(thrown)
        recordError(error)
        return toConnectError(error)
      }
    }
  }
}
