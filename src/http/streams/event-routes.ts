import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { StreamEventsRequest } from '../../../gen/aggregator/v1/event_pb.js'
import type { EventStreams } from '../../rpc/streams/event-streams.js'
import type { HttpContext } from '../context.js'
import { toLimitedCall } from '../request.js'
import { rejectOtherMethods } from '../rest/error-routes.js'
import { compileRoutes } from '../rest/http-rules.js'
import { compileJsonReader, fieldValue, type JsonObject } from '../rest/proto-json.js'
import { createQueryCheck } from '../rest/transcoder.js'
import { serveSse } from './sse.js'
import { serveWebSocket } from './websocket.js'
import { registerWebSocket } from './websocket-upgrade.js'

/**
 * Serves the event stream at the paths of its `google.api.http` option. The option's own path is a WebSocket, the
 * additional ones are server-sent events.
 * @param server a scope that accepts WebSockets
 */
export function registerEventRoutes(
  server: FastifyInstance,
  streams: EventStreams,
  context: HttpContext,
): void {
  const reader = compileJsonReader(streams.desc.input)
  const checkQuery = createQueryCheck(streams.desc.input.fields)
  const read = (request: FastifyRequest) => {
    const query = request.query as JsonObject
    const { message, violations } = reader.read((field) => fieldValue(query, field))
    return { message: message as StreamEventsRequest, violations: [...checkQuery(query), ...violations] }
  }
  for (const [index, { url }] of compileRoutes(streams.desc).entries()) {
    if (index === 0) {
      registerWebSocket(server, {
        url,
        check: (request, reply) => streams.checkLimits(toLimitedCall(request, reply)),
        explanation: 'This path is a WebSocket. The same events are at /v1/events.',
        serve: (socket, request) => serveWebSocket(streams, () => read(request), socket, request),
        logRequest: context.logRequest,
      })
    } else {
      server.route({
        method: 'GET',
        url,
        exposeHeadRoute: false,
        handler: (request, reply) => serveSse(streams, () => read(request), request, reply),
      })
    }
    rejectOtherMethods(server, context, url, ['GET'])
  }
}
