import type { DescField, Message } from '@bufbuild/protobuf'
import { type StreamEventsResponse, StreamEventsResponseSchema } from '../../../gen/aggregator/v1/event_pb.js'
import { compileJsonWriter, type JsonWriter } from '../rest/proto-json.js'

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
