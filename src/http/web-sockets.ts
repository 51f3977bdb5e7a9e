import { type IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type WebSocket, WebSocketServer } from 'ws'
import type { LogRequest } from './request-log.js'

/** The server's open WebSockets. */
export interface WebSockets {
  /**
   * Opens one when that is what a request asks for; one that asks wrongly is answered here.
   * @returns whether the request is dealt with
   */
  accept(request: FastifyRequest, reply: FastifyReply, onOpen: (socket: WebSocket) => void): boolean
  /** Ends them all, without a word. */
  terminate(): void
}

interface AnsweringSocket extends Socket {
  /** The answer to an earlier request, for which a client ought to have waited. */
  readonly _httpMessage?: ServerResponse | null
}

const PING_INTERVAL_MS = 30_000
const SWITCHING_PROTOCOLS = 101

/**
 * Lets the server's routes answer the requests for a WebSocket like any other, and open one. As there may be thousands
 * which do nothing, an open one keeps nothing of the request that it began as.
 * @param maxMessageBytes a client that sends more at once is closed
 * @param logRequest of each request that has become a WebSocket
 */
export function createWebSockets(
  server: FastifyInstance,
  maxMessageBytes: number,
  logRequest: LogRequest,
): WebSockets {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: maxMessageBytes })
  /** What came behind the requests that may be granted. */
  const heads = new WeakMap<IncomingMessage, Buffer>()

  server.server.on('upgrade', (raw: IncomingMessage, connection: AnsweringSocket, head: Buffer) => {
    if (connection._httpMessage) return void connection.destroy()
    connection.on('error', destroy)
    heads.set(raw, head)
    server.routing(raw, responseFor(raw, connection))
  })
  pingClients(server, sockets)

  return {
    accept(request, reply, onOpen) {
      const { raw } = request
      const head = heads.get(raw)
      if (head === undefined) return false
      const connection = raw.socket
      reply.hijack()
      reply.raw.detachSocket(connection)
      connection.off('error', destroy)
      sockets.handleUpgrade(raw, connection, head, (socket) => {
        socket.on('error', terminate)
        sockets.emit('connection', socket)
        logRequest(request, reply, SWITCHING_PROTOCOLS)
        onOpen(socket)
      })
      return true
    },
    terminate() {
      for (const client of sockets.clients) client.terminate()
    },
  }
}

/** For an answer without an upgrade. Nothing reads requests from the connection any more, so it ends with that. */
function responseFor(raw: IncomingMessage, connection: Socket): ServerResponse {
  const response = new ServerResponse(raw)
  response.shouldKeepAlive = false
  response.once('finish', () => connection.destroySoon())
  response.assignSocket(connection)
  return response
}

/** Asks every client now and then whether it is there, and drops those who have not answered. */
function pingClients(server: FastifyInstance, sockets: WebSocketServer): void {
  const silent = new WeakSet<WebSocket>()
  function onPong(this: WebSocket) {
    silent.delete(this)
  }
  const timer = setInterval(() => {
    for (const client of sockets.clients) {
      if (silent.has(client)) client.terminate()
      silent.add(client)
      client.ping()
    }
  }, PING_INTERVAL_MS)
  sockets.on('connection', (client) => client.on('pong', onPong))
  server.addHook('onClose', async () => clearInterval(timer))
}

function destroy(this: Socket): void {
  this.destroy()
}

function terminate(this: WebSocket): void {
  this.terminate()
}
