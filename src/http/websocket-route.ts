import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { WebSocket } from 'ws'
import { ServiceError } from '../domain/errors.js'
import { releaseRequest } from '../internals/release-request.js'
import type { LogRequest } from './request-log.js'

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
  /** The replies of requests that become WebSockets: the handler of a WebSocket does not get one. */
  const upgrades = new WeakMap<FastifyRequest, FastifyReply>()
  server.route({
    method: 'GET',
    url: route.url,
    exposeHeadRoute: false,
    onRequest: route.check,
    async preHandler(request, reply) {
      if (request.ws) upgrades.set(request, reply)
    },
    handler(_request, reply) {
      reply.header('upgrade', 'websocket')
      throw new ServiceError('INVALID_ARGUMENT', route.explanation, { httpStatus: 426 })
    },
    wsHandler(socket, request) {
      const reply = upgrades.get(request)
      if (reply === undefined) throw new Error('the upgrade has no reply')
      upgrades.delete(request)
      route.logRequest(request, SWITCHING_PROTOCOLS)
      releaseRequest(socket, reply.raw, request.raw.socket)
      route.serve(socket, request)
    },
  })
}
