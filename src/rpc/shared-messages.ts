import { toBinary, toJsonString } from '@bufbuild/protobuf'
import { createContextKey } from '@connectrpc/connect'
import { encodeEnvelope, type UniversalHandler } from '@connectrpc/connect/protocol'
import { type StreamEventsResponse, StreamEventsResponseSchema } from '../../gen/aggregator/v1/event_pb.js'
import { encodeOnce } from '../events/encode-once.js'
import { toEventMessage, toHeartbeatMessage } from './convert-events.js'
import type { EventStream } from './event-streams.js'

/** The formats of messages, whatever the protocol around them. */
type Format = 'binary' | 'json'

/** Messages of a stream between its first one, which Connect writes, and its end, which Connect writes as well. */
interface SharedMessages {
  readonly stream: EventStream
  readonly format: Format
  /** Tells the method what has ended the stream. */
  readonly onEnd: (thrown: unknown) => void
}

/** Set by a method whose stream goes on with messages that are made once for all callers. */
export const sharedMessagesKey = createContextKey<SharedMessages | undefined>(undefined)

const envelopesOf = {
  binary: encodeOnce((entry) => envelope(toEventMessage(entry), 'binary')),
  json: encodeOnce((entry) => envelope(toEventMessage(entry), 'json')),
}

/**
 * Wraps the handler of a streaming method. Connect would serialise every message for every caller anew; the envelopes
 * of gRPC, gRPC-Web and Connect are the same, so that the bytes between a stream's beginning and its end can be shared.
 */
export function withSharedMessages(handler: UniversalHandler): UniversalHandler {
  const answer: UniversalHandler = Object.assign(async (request: Parameters<UniversalHandler>[0]) => {
    const response = await handler(request)
    const { body } = response
    if (body === undefined) return response
    const messages = () => request.contextValues?.get(sharedMessagesKey)
    return Object.defineProperty({ ...response, body: splice(body, messages) }, 'trailer', {
      get: () => response.trailer,
    })
  }, handler)
  return answer
}

async function* splice(
  body: AsyncIterable<Uint8Array>,
  sharedMessages: () => SharedMessages | undefined,
): AsyncGenerator<Uint8Array> {
  let isFirst = true
  for await (const chunk of body) {
    yield chunk
    const shared = isFirst ? sharedMessages() : undefined
    isFirst = false
    if (shared !== undefined) yield* envelopes(shared)
  }
}

async function* envelopes({ stream, format, onEnd }: SharedMessages): AsyncGenerator<Uint8Array> {
  try {
    for (;;) {
      const batch = await stream.next()
      yield batch.length === 0
        ? envelope(toHeartbeatMessage(stream.cursor()), format)
        : envelopesOf[format](batch)
    }
  } catch (thrown) {
    onEnd(thrown)
  }
}

function envelope(message: StreamEventsResponse, format: Format): Buffer {
  const bytes =
    format === 'json'
      ? Buffer.from(toJsonString(StreamEventsResponseSchema, message))
      : toBinary(StreamEventsResponseSchema, message)
  return Buffer.from(encodeEnvelope(0, bytes))
}
