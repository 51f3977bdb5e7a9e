import { ConnectError, type HandlerContext } from '@connectrpc/connect'
import type { StreamEventsRequest, StreamEventsResponse } from '../../../gen/aggregator/v1/event_pb.js'
import { toServiceError } from '../../domain/errors.js'
import { requestKey, toCallContext } from '../call-context.js'
import { toConnectedMessage, toEventMessage, toHeartbeatMessage } from '../convert/convert-events.js'
import { END_TIMEOUT_MS, type EventStreams } from './event-streams.js'

/** Builds Connect's handler of StreamEvents. Connect asks for a message when the client has taken those before. */
export function toStreamHandler(streams: EventStreams) {
  return async function* (
    request: StreamEventsRequest,
    context: HandlerContext,
  ): AsyncGenerator<StreamEventsResponse> {
    const { abandon, recordReached } = context.values.get(requestKey)
    recordReached()
    const { protocol, requestId, address } = toCallContext(context)
    await streams.waitForCursor(request.after, address)
    const stream = streams.open(request, { protocol, requestId, address })
    const { subscription } = stream
    let endTimer: NodeJS.Timeout | undefined
    subscription.ended.addEventListener('abort', () => {
      endTimer = setTimeout(abandon, END_TIMEOUT_MS).unref()
    })
    // A generator is not continued, so that no `finally` runs, when its client leaves while a message waits for it.
    const leave = () => {
      stream.close()
      clearTimeout(endTimer)
    }
    context.signal.addEventListener('abort', leave)
    if (context.signal.aborted) leave()
    const next = () =>
      stream.next().catch((thrown) => {
        clearTimeout(endTimer)
        if (context.signal.aborted) throw ConnectError.from(context.signal.reason)
        throw stream.close(thrown) ?? toServiceError(thrown)
      })
    yield toConnectedMessage(streams.supportedChains, subscription.cursor())
    for (;;) {
      const health = stream.dueHealth()
      if (health !== undefined) yield health
      const batch = await next()
      for (const entry of batch) yield toEventMessage(entry)
      if (batch.length === 0) yield stream.dueHealth() ?? toHeartbeatMessage(subscription.cursor())
    }
  }
}
