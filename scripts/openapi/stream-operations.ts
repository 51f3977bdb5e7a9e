import type { DescField, DescMethod } from '@bufbuild/protobuf'
import type { Reason } from '../../packages/protocol/src/errors.js'
import { compileRoutes } from '../../src/http/rest/http-rules.js'
import { descriptionOf } from './descriptions.js'
import type { Sample } from './example.js'
import { examplesOf, failuresIn, type Paths, parameterOf, samplesOf, toPath } from './operations.js'
import { failureResponse, headersOf } from './responses.js'

const MESSAGES =
  '[/asyncapi.json](/asyncapi.json) describes its messages. To see them, run `curl -sN` with the address of `/v1/events`.'
const UPGRADE = { Upgrade: { required: true, schema: { const: 'websocket' } } }
const LAST_EVENT_ID = {
  name: 'Last-Event-ID',
  in: 'header',
  description:
    'The cursor to continue after, which browsers send themselves. It takes precedence over `after`.',
  schema: { type: 'string', minLength: 1 },
}

/** The operations of the stream on REST: the first binding of its option is a WebSocket, others are server-sent events. */
export function streamPaths(method: DescMethod, samples: readonly Sample[]): Paths {
  const [webSocket, ...eventSources] = compileRoutes(method).map(({ url }) => toPath(url))
  const paths: Paths = {}
  if (webSocket !== undefined)
    paths[webSocket] = { get: socketOperation(method, samplesOf(`GET ${webSocket}`, samples)) }
  for (const path of eventSources)
    paths[path] = { get: sourceOperation(method, samplesOf(`GET ${path}`, samples)) }
  return paths
}

function socketOperation(method: DescMethod, samples: readonly Sample[]): object {
  const failure = (status: number, reasons: readonly Reason[], headers = {}) =>
    failureResponse({ status, reasons }, examplesOf(samples, status), { headers })
  return {
    operationId: `${method.localName}OnWebSocket`,
    ...describe(method, 'as a WebSocket'),
    parameters: queryOf(method.input.fields),
    responses: {
      101: {
        description:
          'The WebSocket is open. When the request is invalid, the server then closes it with a reason.',
        headers: UPGRADE,
      },
      400: {
        description: 'The handshake (RFC 6455) is not valid.',
        content: { 'text/html': { schema: { type: 'string' }, examples: examplesOf(samples, 400) } },
      },
      401: failure(401, ['API_KEY_INVALID', 'API_KEY_REQUIRED']),
      426: failure(426, ['INVALID_ARGUMENT'], UPGRADE),
      429: failure(429, ['RATE_LIMITED']),
    },
  }
}

function sourceOperation(method: DescMethod, samples: readonly Sample[]): object {
  return {
    operationId: `${method.localName}AsServerSentEvents`,
    ...describe(method, 'as server-sent events'),
    parameters: [...queryOf(method.input.fields), LAST_EVENT_ID],
    responses: {
      200: {
        description: `The stream: each event has \`data\`, one JSON object, and \`id\`, its cursor. ${MESSAGES}`,
        headers: headersOf({ isLimited: true }),
        content: { 'text/event-stream': { schema: { type: 'string' }, examples: examplesOf(samples, 200) } },
      },
      ...failuresIn(method, false, samples),
    },
  }
}

function describe(method: DescMethod, how: string) {
  return {
    // The page at /docs cannot try this operation: Swagger UI would wait for the end of the stream.
    'x-stream': true,
    summary: `${method.name} ${how}`,
    description: `${descriptionOf(method)}\n\n${MESSAGES}`,
    tags: [method.parent.name],
  }
}

function queryOf(fields: readonly DescField[]): object[] {
  return fields.map((field) => parameterOf(field, 'query'))
}
