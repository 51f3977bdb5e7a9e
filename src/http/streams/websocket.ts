import { once } from 'node:events'
import type { Socket } from 'node:net'
import type { FastifyRequest } from 'fastify'
import type { WebSocket } from 'ws'
import type { StreamEventsRequest, StreamEventsResponse } from '../../../gen/aggregator/v1/event_pb.js'
import { type FieldViolation, toServiceError } from '../../../packages/protocol/src/errors.js'
import { encodeBatches, encodeOnce } from '../../events/encode-once.js'
import { textFrame } from '../../internals/ws.js'
import { toConnectedMessage, toEventMessage } from '../../rpc/convert/convert-events.js'
import type { EventStream, EventStreams } from '../../rpc/streams/event-streams.js'
import { closeWith } from './close-with-error.js'
import { toEventJson } from './event-json.js'

/** A request for the stream that was read from a query. */
export interface StreamRequest {
  readonly message: StreamEventsRequest
  readonly violations: readonly FieldViolation[]
}

const toFrame = encodeOnce((message: StreamEventsResponse) => textFrame(toEventJson(message)))
const toFrames = encodeBatches((entry) => toFrame(toEventMessage(entry)))

/**
 * Serves the event stream on a WebSocket that has just been opened. This function is not async: an async function would
 * keep the request in memory for as long as the stream is open.
 */
export function serveWebSocket(
  streams: EventStreams,
  read: () => StreamRequest,
  socket: WebSocket,
  request: FastifyRequest,
): void {
  const { client } = request
  const closeWithError = (error: unknown) => closeWith(socket, toServiceError(error))
  function start({ message, violations }: StreamRequest): void {
    if (socket.readyState !== socket.OPEN) return
    const caller = { protocol: 'websocket', requestId: request.id, client } as const
    const stream = streams.open(message, caller, violations)
    socket.send(toEventJson(toConnectedMessage(streams.supportedChains, stream.subscription.cursor())))
    void sendAll(stream, socket, request.raw.socket)
  }

  try {
    const wanted = read()
    const waiting = streams.waitForCursor(wanted.message.after, client)
    if (waiting === undefined) start(wanted)
    else waiting.then(() => start(wanted)).catch(closeWithError)
  } catch (error) {
    closeWithError(error)
  }
}

/**
 * Writes messages until the stream ends. The frames are the same for all clients, so they are made once and written to the
 * connection directly (`textFrame` says why that is correct).
 */
async function sendAll(stream: EventStream, socket: WebSocket, connection: Socket): Promise<void> {
  const { subscription } = stream
  socket.once('close', () => stream.close())
  try {
    while (socket.readyState === socket.OPEN) {
      const health = stream.dueHealth()
      const frames = health === undefined ? toFrames(await stream.next()) : toFrame(health)
      if (frames.length === 0 || socket.readyState !== socket.OPEN) continue
      if (!connection.write(frames)) await once(connection, 'drain', { signal: subscription.ended })
    }
  } catch (thrown) {
    // The socket itself reports a broken connection.
    const isBroken = connection.destroyed || socket.readyState !== socket.OPEN
    const { ended } = subscription
    if (!ended.aborted && isBroken) return
    const error = stream.close(ended.aborted ? ended.reason : thrown)
    if (error !== undefined) closeWith(socket, error)
  }
}
