import type { DescMessage, Message } from '@bufbuild/protobuf'
import {
  OpenSessionResponseSchema,
  type SessionHello,
  SessionHelloSchema,
} from '../../../gen/aggregator/v1/session_pb.js'
import { invalidArgument } from '../../../packages/protocol/src/errors.js'
import { encodeOnce } from '../../events/encode-once.js'
import type { Entry } from '../../events/tail-buffer.js'
import { toEventMessage } from '../../rpc/convert/convert-events.js'
import type { ReadHello } from '../../rpc/convert/convert-sessions.js'
import { declineCodeOf, type SingleMessage, toSessionMessage } from '../../rpc/convert/convert-sessions.js'
import type { SolverMessage } from '../../sessions/messages.js'
import {
  compileJsonReader,
  compileJsonWriter,
  fieldValue,
  type JsonObject,
  type JsonWriter,
} from '../rest/proto-json.js'
import { parseJsonObject } from '../rest/transcoder.js'
import { toEventJson } from './event-json.js'

const helloReader = compileJsonReader(SessionHelloSchema)

/** The writers of all messages but events, by the name of the field. */
const WRITERS = new Map(
  OpenSessionResponseSchema.fields.flatMap(({ localName, message }) =>
    message === undefined || localName === 'event'
      ? []
      : [[localName, compileJsonWriter(message as DescMessage)]],
  ) as [string, JsonWriter][],
)

/**
 * Reads a message of a solver: one JSON object with its `type` (docs/decisions.md, D18).
 * @throws ServiceError INVALID_ARGUMENT or CHAIN_NOT_SUPPORTED
 */
export function readSolverMessage(bytes: Buffer, readHello: ReadHello): SolverMessage {
  const json = parseJsonObject(bytes.toString())
  switch (json.type) {
    case 'hello':
      return { type: 'hello', hello: readHelloJson(json, readHello) }
    case 'quote':
      return { type: 'quote', id: textOf(json, 'id'), body: { quote: json.quote, signature: json.signature } }
    case 'decline':
      return { type: 'decline', id: textOf(json, 'id'), code: declineCodeOf(optionalText(json, 'code')) }
    case 'pong':
      return { type: 'pong', id: textOf(json, 'id') }
    default:
      throw invalidArgument([{ field: 'type', message: 'must be hello, quote, decline or pong' }])
  }
}

/** Writes a message to a solver. */
export function toSessionJson(message: SingleMessage): string {
  // The two that are many are written without a message of the proto in between.
  if (message.type === 'quoteRequest') return toRequestJson(message)
  if (message.type === 'result') return JSON.stringify({ type: 'result', id: message.id, ...message.result })
  const { message: made } = toSessionMessage(message)
  const write = WRITERS.get(made.case ?? '')
  if (write === undefined) throw new Error('the message has no content')
  return JSON.stringify({ type: made.case, ...write(made.value as Message) })
}

/** Writes an event to a solver. */
export function toSessionEventJson(entry: Entry): string {
  const event = toEventJson(toEventMessage(entry))
  return `{"type":"event","event":${event},"cursor":${JSON.stringify(entry.cursor)}}`
}

/** The text of the HTTP request, after the fields that HTTP has in its headers. */
function toRequestJson({ id, solverRequest }: Extract<SingleMessage, { type: 'quoteRequest' }>): string {
  const { request, body, deadline } = solverRequest
  const head = JSON.stringify({ type: 'quoteRequest', id, deadline, kind: request.kind })
  return `${head.slice(0, -1)},${tailOf(body)}`
}

/** The text of a request after its brace. All solvers of a round get the same one. */
const tailOf = encodeOnce((body: Uint8Array) => Buffer.from(body).toString('utf8', 1))

function readHelloJson(json: JsonObject, readHello: ReadHello) {
  const { message, violations } = helloReader.read((field) => fieldValue(json, field))
  return readHello(message as SessionHello, violations)
}

function textOf(json: JsonObject, field: string): string {
  const value = optionalText(json, field)
  if (value === undefined) throw mustBeText(field)
  return value
}

function optionalText(json: JsonObject, field: string): string | undefined {
  const value = json[field]
  if (value === undefined || typeof value === 'string') return value
  throw mustBeText(field)
}

function mustBeText(field: string) {
  return invalidArgument([{ field, message: 'must be a string' }])
}
