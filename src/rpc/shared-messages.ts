import { type StreamEventsResponse, StreamEventsResponseSchema } from '../../gen/aggregator/v1/event_pb.js'
import { encodeBatches, encodeOnce } from '../events/encode-once.js'
import type { Batch } from '../events/tail-buffer.js'
import { type Format, toEnvelope } from './continuation.js'
import { toEventMessage } from './convert-events.js'

const messageEncoders = { binary: messageEncoder('binary'), json: messageEncoder('json') }
const batchEncoders = { binary: batchEncoder('binary'), json: batchEncoder('json') }

/** The envelope of a message that callers share. Connect would serialise it again for every caller. */
export function sharedEnvelope(message: StreamEventsResponse, format: Format): Buffer {
  return messageEncoders[format](message)
}

/** The envelopes of events, as `sharedEnvelope`. */
export function sharedEnvelopes(batch: Batch, format: Format): Buffer {
  return batchEncoders[format](batch)
}

function messageEncoder(format: Format) {
  return encodeOnce((message: StreamEventsResponse) =>
    toEnvelope(StreamEventsResponseSchema, message, format),
  )
}

function batchEncoder(format: Format) {
  return encodeBatches((entry) => sharedEnvelope(toEventMessage(entry), format))
}
