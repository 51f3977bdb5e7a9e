import websocket from '@fastify/websocket'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { StreamEventsRequest } from '../../gen/aggregator/v1/event_pb.js'
import { ServiceError } from '../domain/errors.js'
import type { EventStreams } from '../rpc/event-streams.js'
import { MAX_CLIENT_MESSAGE_BYTES, serveEventSocket } from './event-socket.js'
import { serveEventSource } from './event-source.js'
import { compileRoutes } from './http-rules.js'
import type { JsonObject } from './json-body.js'
import { compileJsonReader } from './json-reader.js'
import type { RefuseOtherVerbs } from './refusals.js'
import { fieldValue } from './transcoder.js'

const PING_INTERVAL_MS = 30_000

/**
 * Serves the event stream at the paths of its `google.api.http` option: the option's own is a WebSocket, the additional
 * ones are server-sent events.
 */
export async function registerEventRoutes(
  server: FastifyInstance,
  streams: EventStreams,
  refuseOtherVerbs: RefuseOtherVerbs,
): Promise<void> {
  await server.register(websocket, {
    options: { maxPayload: MAX_CLIENT_MESSAGE_BYTES },
    // The streams have said goodbye to their clients by then.
    preClose: (done) => done(),
    errorHandler: (_error, socket) => socket.terminate(),
  })
  pingClients(server)
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
        handler(_request, reply) {
          reply.header('upgrade', 'websocket')
          const message = 'This path is a WebSocket. The same events are at /v1/events.'
          throw new ServiceError('INVALID_ARGUMENT', message, { httpStatus: 426 })
        },
        wsHandler: (socket, request) => serveEventSocket(streams, () => read(request), socket, request),
      })
    } else {
      server.route({
        method: 'GET',
        url,
        exposeHeadRoute: false,
        handler: (request, reply) => serveEventSource(streams, () => read(request), request, reply),
      })
    }
    refuseOtherVerbs(url, ['GET'], () => {})
  }
}

/** Asks every client now and then whether it is there, and drops those who have not answered. */
function pingClients(server: FastifyInstance): void {
  const { clients } = server.websocketServer
  const silent = new WeakSet<object>()
  const timer = setInterval(() => {
    for (const client of clients) {
      if (silent.has(client)) client.terminate()
      silent.add(client)
      client.ping()
    }
  }, PING_INTERVAL_MS)
  server.websocketServer.on('connection', (client) => client.on('pong', () => silent.delete(client)))
  server.addHook('onClose', async () => clearInterval(timer))
}
