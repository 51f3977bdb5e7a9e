import type { DescField, Message } from '@bufbuild/protobuf'
import { type StreamEventsResponse, StreamEventsResponseSchema } from '../../gen/aggregator/v1/event_pb.js'
import { compileJsonWriter, type JsonWriter } from './json-writer.js'

/** Each kind of event by the name of its field: its type in JSON, and the writer of its own fields. */
const KINDS = new Map(
  StreamEventsResponseSchema.oneofs[0]?.fields.map((field) => [field.localName, kindOf(field)]),
)

/**
 * A message of the stream as one JSON object (docs/protocol.md, "Event messages"; docs/decisions.md, D9): what happened, with its type
 * before and the cursor behind. The type is the message's name; that of `connected` is the field's.
 */
export function toEventJson({ event, cursor }: StreamEventsResponse): string {
  const kind = KINDS.get(event.case ?? '')
  if (kind === undefined) throw new Error('a message without an event')
  return JSON.stringify({ type: kind.type, ...kind.write(event.value as Message), cursor })
}

function kindOf(field: DescField): { type: string; write: JsonWriter } {
  if (field.message === undefined) throw new Error(`${field}: events are messages`)
  const type = field.localName === 'connected' ? field.localName : field.message.name
  return { type, write: compileJsonWriter(field.message) }
}
