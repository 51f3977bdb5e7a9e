import { once } from 'node:events'
import type { Socket } from 'node:net'
import type { DescField, Message } from '@bufbuild/protobuf'
import type { FastifyRequest } from 'fastify'
import type { WebSocket } from 'ws'
import {
  type StreamEventsRequest,
  type StreamEventsResponse,
  StreamEventsResponseSchema,
} from '../../../gen/aggregator/v1/event_pb.js'
import {
  type FieldViolation,
  type Reason,
  type ServiceError,
  toServiceError,
} from '../../../packages/protocol/src/errors.js'
import { encodeBatches, encodeOnce } from '../../events/encode-once.js'
import { textFrame } from '../../internals/text-frame.js'
import { toConnectedMessage, toEventMessage } from '../../rpc/convert/convert-events.js'
import { type EventStream, type EventStreams, memoizeLast } from '../../rpc/streams/event-streams.js'
import { compileJsonWriter, type JsonWriter } from '../rest/proto-json.js'

/** A request for the stream that was read from a query. */
export interface StreamRequest {
  readonly message: StreamEventsRequest
  readonly violations: readonly FieldViolation[]
}

/** Close codes by reason (RFC 6455, section 7.4; docs/decisions.md, D9). */
const CLOSE_CODES: Partial<Record<Reason, number>> = {
  SHUTTING_DOWN: 1001,
  INVALID_ARGUMENT: 1008,
  CHAIN_NOT_SUPPORTED: 1008,
  CURSOR_UNKNOWN: 1008,
  API_KEY_INVALID: 1008,
  SUBSCRIBER_TOO_SLOW: 1013,
  STREAM_LIMIT_REACHED: 1013,
  DATABASE_UNAVAILABLE: 1013,
}
const INTERNAL_ERROR = 1011
/** How much earlier the message about the chains may come with events. A write of its own costs as much as that of the events. */
const HEALTH_LEAD_MS = 5000
/** The bytes of a close frame in addition to its code. */
const MAX_REASON_BYTES = 123

const toFrame = encodeOnce((message: StreamEventsResponse) => textFrame(toEventJson(message)))
const toFrames = encodeBatches((entry) => toFrame(toEventMessage(entry)))
/** The clients that get the same events get the same message about the chains with them. */
const joinFrames = memoizeLast((events: Buffer, health: Buffer) => Buffer.concat([events, health]))

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
      const due = stream.dueHealth()
      const batch = due === undefined ? await stream.next() : []
      const health = batch.length > 0 ? stream.dueHealth(HEALTH_LEAD_MS) : due
      const frames = health === undefined ? toFrames(batch) : joinFrames(toFrames(batch), toFrame(health))
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

function closeWith(socket: WebSocket, error: ServiceError): void {
  socket.close(CLOSE_CODES[error.reason] ?? INTERNAL_ERROR, closeReason(error))
}

/** The reason of the close frame for an error. */
export function closeReason(error: ServiceError): string {
  const reason = error.violations[0]
    ? error.violations.map(({ field, message }) => `${field} ${message}`).join('; ')
    : error.message
  // Only ASCII, so that a character is a byte: names of fields may come from the client.
  const ascii = reason.replace(/[^\x20-\x7e]/g, '?')
  return ascii.slice(0, MAX_REASON_BYTES)
}

/** Each kind of event by the name of its field: its type in JSON, and the writer of its fields. */
const KINDS = new Map(
  StreamEventsResponseSchema.oneofs[0]?.fields.map((field) => [field.localName, kindOf(field)]),
)

/**
 * Writes a message of the stream as one JSON object (docs/protocol.md, "Event messages"; docs/decisions.md, D9): first its
 * type, then the fields of the event, last the cursor. The type is the message's name; for `connected` it is the field's.
 */
export function toEventJson({ event, cursor }: StreamEventsResponse): string {
  const kind = KINDS.get(event.case ?? '')
  if (kind === undefined) throw new Error('the message has no event')
  return JSON.stringify({ type: kind.type, ...kind.write(event.value as Message), cursor })
}

function kindOf(field: DescField): { type: string; write: JsonWriter } {
  if (field.message === undefined) throw new Error(`${field}: an event must be a message`)
  const type = field.localName === 'connected' ? field.localName : field.message.name
  return { type, write: compileJsonWriter(field.message) }
}
