import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { StreamEventsRequest } from '../../gen/aggregator/v1/event_pb.js'
import { ServiceError } from '../domain/errors.js'
import { releaseRequest } from '../internals/release-request.js'
import type { EventStreams } from '../rpc/event-streams.js'
import type { RejectOtherMethods } from './error-handler.js'
import { compileRoutes } from './http-rules.js'
import type { JsonObject } from './json-body.js'
import { compileJsonReader } from './json-reader.js'
import { createQueryCheck } from './query-parameters.js'
import type { LogRequest } from './request-log.js'
import { fieldValue } from './request-message.js'
import { toClient } from './rest-context.js'
import { serveSse } from './sse.js'
import { serveWebSocket } from './websocket.js'

const SWITCHING_PROTOCOLS = 101

/**
 * Serves the event stream at the paths of its `google.api.http` option. The option's own path is a WebSocket, the
 * additional ones are server-sent events.
 * @param server a scope that accepts WebSockets
 */
export function registerEventRoutes(
  server: FastifyInstance,
  streams: EventStreams,
  rejectOtherMethods: RejectOtherMethods,
  logRequest: LogRequest,
): void {
  const reader = compileJsonReader(streams.desc.input)
  const checkQuery = createQueryCheck(streams.desc.input.fields)
  const read = (request: FastifyRequest) => {
    const query = request.query as JsonObject
    const { message, violations } = reader.read((field) => fieldValue(query, field))
    return { message: message as StreamEventsRequest, violations: [...checkQuery(query), ...violations] }
  }
  /** The replies of requests that become WebSockets: the handler of a WebSocket does not get one. */
  const upgrades = new WeakMap<FastifyRequest, FastifyReply>()

  for (const [index, { url }] of compileRoutes(streams.desc).entries()) {
    if (index === 0) {
      server.route({
        method: 'GET',
        url,
        exposeHeadRoute: false,
        // Before the upgrade: a rejection is an HTTP response and opens no WebSocket.
        onRequest: (request, reply) => streams.checkLimits(toClient(request, reply)),
        async preHandler(request, reply) {
          if (request.ws) upgrades.set(request, reply)
        },
        handler(_request, reply) {
          reply.header('upgrade', 'websocket')
          const message = 'This path is a WebSocket. The same events are at /v1/events.'
          throw new ServiceError('INVALID_ARGUMENT', message, { httpStatus: 426 })
        },
        wsHandler(socket, request) {
          const reply = upgrades.get(request)
          if (reply === undefined) throw new Error('the upgrade has no reply')
          upgrades.delete(request)
          logRequest(request, SWITCHING_PROTOCOLS)
          releaseRequest(socket, reply.raw, request.raw.socket)
          serveWebSocket(streams, () => read(request), socket, request)
        },
      })
    } else {
      server.route({
        method: 'GET',
        url,
        exposeHeadRoute: false,
        handler: (request, reply) => serveSse(streams, () => read(request), request, reply),
      })
    }
    rejectOtherMethods(url, ['GET'], () => {})
  }
}
