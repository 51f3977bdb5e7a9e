import type { IncomingMessage } from 'node:http'
import websocket from '@fastify/websocket'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { WebSocket, WebSocketServer } from 'ws'
import { ServiceError } from '../../../packages/protocol/src/errors.js'
import type { LogRequest } from '../request-log.js'
import { MAX_CLIENT_MESSAGE_BYTES, superviseWebSockets } from './websocket-control.js'

const PING_INTERVAL_MS = 30_000
/** Parts of one message. Each has a cost in addition to its bytes, and no client has a reason to send any. */
const MAX_FRAGMENTS = 8
/** Reads of the connection that one unfinished frame may take. */
const MAX_BUFFERED_CHUNKS = 64

/** Requests for an upgrade that are not WebSockets yet. */
export interface PendingUpgrades {
  /** Leaves the connection of a request to its WebSocket. */
  takeOver(request: IncomingMessage): void
}

/**
 * Lets routes of a scope be WebSockets with the option `wsHandler`. @fastify/websocket adds hooks to every route of its
 * scope, so other routes belong to another scope.
 */
export async function registerWebSocketUpgrades(
  scope: FastifyInstance,
  upgrades: PendingUpgrades,
): Promise<void> {
  await scope.register(websocket, {
    options: {
      // `textFrame` needs it.
      perMessageDeflate: false,
      maxPayload: MAX_CLIENT_MESSAGE_BYTES,
      maxFragments: MAX_FRAGMENTS,
      maxBufferedChunks: MAX_BUFFERED_CHUNKS,
    },
    // The event log closes its sockets with a reason; all others end with the server's connections.
    preClose: (done) => done(),
  })
  const webSockets = scope.websocketServer as WebSocketServer
  webSockets.on('connection', (_socket, request) => upgrades.takeOver(request))
  const stop = superviseWebSockets(webSockets, PING_INTERVAL_MS)
  scope.addHook('onClose', async () => stop())
}

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
