import type { DescField, DescMessage } from '@bufbuild/protobuf'
import {
  OpenSessionRequestSchema,
  OpenSessionResponseSchema,
  SessionEventSchema,
} from '../../gen/aggregator/v1/session_pb.js'
import { SolverService } from '../../gen/aggregator/v1/solver_pb.js'
import { SESSION_PATH } from '../../src/http/streams/websocket-control.js'
import type { JsonSchema } from './constraints.js'
import { descriptionOf } from './descriptions.js'
import { reasonsOf } from './error-responses.js'
import { errorSchema, FIELD_VIOLATION } from './responses.js'
import { messageSchema, namedSchemas } from './schemas.js'
import { type TypedMessage, withType } from './typed-message.js'
import { unwrap } from './unwrap.js'

const METHOD = SolverService.method.openSession
const CHANNEL = 'solverSession'

const ENDINGS = `
A message is one text frame. An end after an error of the instance begins with the message \`error\`. The close codes are:
- 1001: the instance stops.
- 1008: the hello was refused, or the session ended because of its messages or its registration. The reason is \`replaced\`
  when another session of the solver has replaced this one: do not connect again.
- 1009: a message was too long.
- 1013: the solver answers no pings, reads too slowly, or the database of the instance does not answer.
- 1011: the instance has failed.`

const ERROR = {
  type: 'error',
  description: 'Why the instance ends the connection. Its fields are those of all errors.',
  payload: withType('error', errorSchema(reasonsOf(METHOD))),
}

/**
 * Derives the channel of solver sessions, with its operations and messages.
 * @param streamMessages the messages of the event stream in the same document, of which events are
 */
export function sessionChannel(streamMessages: readonly TypedMessage[]) {
  // The others are of streams of their own.
  const eventTypes = streamMessages
    .map(({ type }) => type)
    .filter((type) => !/^(connected|Health)$/.test(type))
  const fromSolver = messagesOf(OpenSessionRequestSchema, eventTypes)
  const fromInstance = [...messagesOf(OpenSessionResponseSchema, eventTypes), ERROR]
  const messages = [...fromSolver, ...fromInstance]
  const operation = (action: 'send' | 'receive', own: readonly TypedMessage[]) => ({
    action,
    channel: { $ref: `#/channels/${CHANNEL}` },
    messages: own.map(({ type }) => ({ $ref: `#/channels/${CHANNEL}/messages/${type}` })),
  })
  return {
    channels: {
      [CHANNEL]: {
        address: SESSION_PATH,
        description: `${descriptionOf(METHOD)}\n\n${unwrap(ENDINGS)}`,
        messages: Object.fromEntries(
          messages.map(({ type }) => [type, { $ref: `#/components/messages/${type}` }]),
        ),
        bindings: { ws: { method: 'GET', bindingVersion: '0.1.0' } },
      },
    },
    operations: {
      sendToSolver: operation('send', fromInstance),
      receiveFromSolver: operation('receive', fromSolver),
    },
    messages: Object.fromEntries(
      messages.map(({ type, description, payload }) => [type, { name: type, summary: description, payload }]),
    ),
    schemas: {
      ...namedSchemas(referredBy([OpenSessionRequestSchema, OpenSessionResponseSchema])),
      FieldViolation: FIELD_VIOLATION,
    },
  }
}

function messagesOf({ fields }: DescMessage, eventTypes: readonly string[]): TypedMessage[] {
  return fields.flatMap(({ localName: type, message }) =>
    message === undefined
      ? []
      : [
          {
            type,
            description: descriptionOf(message),
            payload: withType(type, payloadOf(message, eventTypes)),
          },
        ],
  )
}

/** An event is a message of the event stream. */
function payloadOf(message: DescMessage, eventTypes: readonly string[]): JsonSchema {
  if (message !== SessionEventSchema) return messageSchema(message)
  const schema = messageSchema(message) as { properties: object }
  const oneOf = eventTypes.map((type) => ({ $ref: `#/components/messages/${type}/payload` }))
  return { ...schema, properties: { ...schema.properties, event: { oneOf } } }
}

/** The messages that the messages of a session refer to. */
function referredBy(messages: readonly DescMessage[]): DescMessage[] {
  const nested = (fields: readonly DescField[]) => fields.flatMap(({ message }) => message ?? [])
  const own = messages
    .flatMap(({ fields }) => nested(fields))
    .filter((message) => message !== SessionEventSchema)
  return own.flatMap(({ fields }) => nested(fields))
}
