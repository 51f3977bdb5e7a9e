import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { WebSocket } from 'ws'
import { ServiceError } from '../../domain/errors.js'
import type { LogRequest } from '../request-log.js'

interface WebSocketRoute {
  readonly url: string
  /** Runs before the upgrade: a rejection is an HTTP response and opens no WebSocket. */
  readonly check: (request: FastifyRequest, reply: FastifyReply) => Promise<void>
  /** The error of a request that asks for no WebSocket. */
  readonly explanation: string
  readonly serve: (socket: WebSocket, request: FastifyRequest) => void
  readonly logRequest: LogRequest
}

const SWITCHING_PROTOCOLS = 101

/** Adds a route that is a WebSocket. @param server a scope that accepts WebSockets */
export function registerWebSocket(server: FastifyInstance, route: WebSocketRoute): void {
  server.route({
    method: 'GET',
    url: route.url,
    exposeHeadRoute: false,
    onRequest: route.check,
    handler(_request, reply) {
      reply.header('upgrade', 'websocket')
      throw new ServiceError('INVALID_ARGUMENT', route.explanation, { httpStatus: 426 })
    },
    wsHandler(socket, request) {
      route.logRequest(request, SWITCHING_PROTOCOLS)
      route.serve(socket, request)
    },
  })
}
