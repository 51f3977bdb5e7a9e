import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { WebSocket } from 'ws'
import type { StreamEventsRequest } from '../../gen/aggregator/v1/event_pb.js'
import { ServiceError } from '../domain/errors.js'
import type { EventStreams } from '../rpc/event-streams.js'
import { serveEventSocket } from './event-socket.js'
import { serveEventSource } from './event-source.js'
import { compileRoutes } from './http-rules.js'
import type { JsonObject } from './json-body.js'
import { compileJsonReader } from './json-reader.js'
import type { RefuseOtherVerbs } from './refusals.js'
import { fieldValue } from './transcoder.js'
import type { WebSockets } from './web-sockets.js'

/**
 * Serves the event stream at the paths of its `google.api.http` option: the option's own is a WebSocket, the additional
 * ones are server-sent events.
 */
export function registerEventRoutes(
  server: FastifyInstance,
  streams: EventStreams,
  webSockets: WebSockets,
  refuseOtherVerbs: RefuseOtherVerbs,
): void {
  const reader = compileJsonReader(streams.desc.input)
  const read = (request: FastifyRequest) => {
    const query = request.query as JsonObject
    const { message, violations } = reader.read((field) => fieldValue(query, field))
    return { message: message as StreamEventsRequest, violations }
  }

  for (const [index, { url }] of compileRoutes(streams.desc).entries()) {
    if (index === 0) {
      server.route({
        method: 'GET',
        url,
        exposeHeadRoute: false,
        handler(request, reply) {
          const open = (socket: WebSocket) => serveEventSocket(streams, () => read(request), socket, request)
          if (webSockets.accept(request, reply, open)) return
          reply.header('upgrade', 'websocket')
          const message = 'This path is a WebSocket. The same events are at /v1/events.'
          throw new ServiceError('INVALID_ARGUMENT', message, { httpStatus: 426 })
        },
      })
    } else {
      server.route({
        method: 'GET',
        url,
        exposeHeadRoute: false,
        handler(request, reply) {
          // A connection that was to become a WebSocket is not read: on it, nobody would see that a client has left.
          if (webSockets.accept(request, reply, (socket) => socket.close())) return
          return serveEventSource(streams, () => read(request), request, reply)
        },
      })
    }
    refuseOtherVerbs(url, ['GET'], () => {})
  }
}
