import { StreamEventsResponseSchema } from '../../gen/aggregator/v1/event_pb.js'
import { encodeOnce } from '../events/encode-once.js'
import type { Batch } from '../events/tail-buffer.js'
import { type Format, toEnvelope } from './continuation.js'
import { toEventMessage } from './convert-events.js'

const envelopesOf = {
  binary: encodeOnce((entry) => toEnvelope(StreamEventsResponseSchema, toEventMessage(entry), 'binary')),
  json: encodeOnce((entry) => toEnvelope(StreamEventsResponseSchema, toEventMessage(entry), 'json')),
}

/** The envelopes of events, which all callers share. Connect would serialise every message again for every caller. */
export function sharedEnvelopes(batch: Batch, format: Format): Buffer {
  return envelopesOf[format](batch)
}
