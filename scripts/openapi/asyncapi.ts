import { create, type DescMessage, type DescMethod, type MessageInitShape } from '@bufbuild/protobuf'
import { ChainHealthSchema } from '../../gen/aggregator/v1/chain_health_pb.js'
import { StreamEventsResponseSchema } from '../../gen/aggregator/v1/event_pb.js'
import { compileRoutes } from '../../src/http/rest/http-rules.js'
import { toEventJson } from '../../src/http/streams/event-json.js'
import type { JsonSchema } from './constraints.js'
import type { Contract } from './contract.js'
import { descriptionOf } from './descriptions.js'
import type { ExampleEvent } from './example.js'
import { fieldSchema, messageSchema, namedSchemas } from './schemas.js'
import { sessionChannel } from './session-channel.js'
import { type TypedMessage, withType } from './typed-message.js'
import { unwrap } from './unwrap.js'

const ENDINGS = `
The first message is \`connected\`. The server ignores messages from the client; one of more than 4 KiB closes its socket.
The server closes a stream with one of these codes, and a reason that says what was wrong:
- 1001: the server stops.
- 1008: the filter is invalid, the chain is not supported, the cursor is unknown or too old, or the event log has lost
  events that were sent, as after a restored backup.
- 1013: a limit of open streams is reached, the client reads too slowly for too long, or the database that \`after\` needs
  does not answer.
- 1011: the server has failed.

To resume, connect again with the cursor of the last message as \`after\`. Pings show that the stream is alive.`
const SOURCE_ENDINGS = `
The first message is \`connected\`. Each event has \`data\`, one of these messages, and \`id\`, its cursor. Browsers send the
last cursor themselves as \`Last-Event-ID\`, which takes precedence over \`after\`. Comments show that the stream is alive. A
rejected request gets an error in JSON, see [/openapi.json](/openapi.json). A stream that ends later has no error; you may
resume it.`

/** All messages of the stream except the heartbeat, which has no JSON. */
export function asyncApiMessages(): TypedMessage[] {
  const fields = StreamEventsResponseSchema.oneofs[0]?.fields ?? []
  return fields.flatMap(({ localName, message }) =>
    message === undefined || localName === 'heartbeat' ? [] : [toAsyncApiMessage(localName, message)],
  )
}

/** Derives the AsyncAPI 3 document of the event stream and of solver sessions. */
export function asyncApiOf({ version, stream }: Contract, events: readonly ExampleEvent[]): object {
  const messages = asyncApiMessages()
  const [webSocket = '', eventSource = ''] = compileRoutes(stream).map(({ url }) => url)
  const query = querySchema(stream)
  const channel = (address: string, description: string) => ({
    address,
    description: unwrap(description),
    messages: Object.fromEntries(
      messages.map(({ type }) => [type, { $ref: `#/components/messages/${type}` }]),
    ),
  })
  const session = sessionChannel(messages)
  const operation = (name: string) => ({
    action: 'send',
    channel: { $ref: `#/channels/${name}` },
    description: descriptionOf(stream),
  })

  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Quote aggregator: order events and solver sessions',
      version,
      description:
        'The order events of the settlement contracts, each once and in the order of its chain; and the sessions on which solvers quote.',
      license: { name: 'MIT' },
    },
    defaultContentType: 'application/json',
    channels: {
      webSocket: {
        ...channel(webSocket, ENDINGS),
        bindings: { ws: { method: 'GET', query, bindingVersion: '0.1.0' } },
      },
      serverSentEvents: channel(eventSource, SOURCE_ENDINGS),
      ...session.channels,
    },
    operations: {
      sendOnWebSocket: operation('webSocket'),
      sendAsServerSentEvents: {
        ...operation('serverSentEvents'),
        bindings: { http: { method: 'GET', query, bindingVersion: '0.3.0' } },
      },
      ...session.operations,
    },
    components: {
      messages: {
        ...Object.fromEntries(
          messages.map((message) => [
            message.type,
            {
              name: message.type,
              summary: message.description,
              payload: message.payload,
              examples: events.filter(({ type }) => type === message.type).map((payload) => ({ payload })),
            },
          ]),
        ),
        ...session.messages,
      },
      schemas: { ...namedSchemas([ChainHealthSchema]), ...session.schemas },
    },
  }
}

function toAsyncApiMessage(localName: string, message: DescMessage): TypedMessage {
  const type = typeOf(localName)
  const { cursor } = StreamEventsResponseSchema.field
  const schema = messageSchema(message, [...message.fields, cursor]) as { required: string[] }
  const payload = withType(type, { ...schema, required: [...schema.required, cursor.jsonName] })
  return { type, description: descriptionOf(message), payload }
}

/** The type that the JSON writer gives to this kind of event. */
function typeOf(localName: string): string {
  const message = { event: { case: localName, value: {} } } as MessageInitShape<
    typeof StreamEventsResponseSchema
  >
  return JSON.parse(toEventJson(create(StreamEventsResponseSchema, message))).type
}

function querySchema({ input }: DescMethod): JsonSchema {
  return {
    type: 'object',
    properties: Object.fromEntries(input.fields.map((field) => [field.jsonName, fieldSchema(field)])),
  }
}
