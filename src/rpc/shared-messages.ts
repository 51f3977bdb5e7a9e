import { toBinary, toJsonString } from '@bufbuild/protobuf'
import { createContextKey } from '@connectrpc/connect'
import type { UniversalHandler } from '@connectrpc/connect/protocol'
import { type StreamEventsResponse, StreamEventsResponseSchema } from '../../gen/aggregator/v1/event_pb.js'
import { encodeOnce } from '../events/encode-once.js'
import { withContinuation } from '../internals/continue-stream.js'
import { messageEnvelope } from '../internals/message-envelope.js'
import { toEventMessage, toHeartbeatMessage } from './convert-events.js'
import type { EventStream } from './event-streams.js'

/** The formats of messages, in all protocols. */
type Format = 'binary' | 'json'

/** The messages of a stream between its first one and its end, both of which Connect writes. */
interface SharedMessages {
  readonly subscription: EventStream['subscription']
  readonly format: Format
  /** Called with the error that ended the stream. */
  readonly onEnd: (thrown: unknown) => void
}

/** A method sets it when its stream continues with messages that are made once for all callers. */
export const sharedMessagesKey = createContextKey<SharedMessages | undefined>(undefined)

const envelopesOf = {
  binary: encodeOnce((entry) => envelope(toEventMessage(entry), 'binary')),
  json: encodeOnce((entry) => envelope(toEventMessage(entry), 'json')),
}

/**
 * Wraps the handler of a streaming method. Connect would serialise every message again for every caller. The envelopes of
 * gRPC, gRPC-Web and Connect are the same, so all callers share the bytes between a stream's beginning and its end.
 */
export function withSharedMessages(handler: UniversalHandler): UniversalHandler {
  return withContinuation(handler, ({ contextValues }) => {
    const shared = contextValues?.get(sharedMessagesKey)
    return shared && envelopes(shared)
  })
}

async function* envelopes({ subscription, format, onEnd }: SharedMessages): AsyncGenerator<Uint8Array> {
  try {
    for (;;) {
      const batch = await subscription.next()
      yield batch.length === 0
        ? envelope(toHeartbeatMessage(subscription.cursor()), format)
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
  return messageEnvelope(bytes)
}
