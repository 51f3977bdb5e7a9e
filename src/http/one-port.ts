import type { RequestListener, Server } from 'node:http'
import type { ServerHttp2Session } from 'node:http2'
import type { Socket } from 'node:net'
import { createServer } from '@httptoolkit/httpolyglot'

/** A server that speaks HTTP/1.1 and cleartext HTTP/2 on one port, and can be drained. */
export interface OnePortServer {
  /** For Fastify, which calls `closeIdleConnections` and `closeHttp2Sessions` when it closes. */
  readonly server: Server
  /** Ends every connection that is still open. */
  destroyConnections(): void
}

/**
 * Builds the server. Once it is closing, a connection ends with the answer under way on it: Node's own servers
 * would wait for the client to let go.
 */
export function createOnePortServer(handler: RequestListener): OnePortServer {
  const server = createServer(handler)
  const sockets = new Set<Socket>()
  const sessions = new Set<ServerHttp2Session>()
  const requestsUnderWay = new Map<Socket, number>()
  let isClosing = false

  server.on('connection', (socket: Socket) => {
    if (sockets.has(socket)) return
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  server.on('session', (session: ServerHttp2Session) => {
    sessions.add(session)
    session.once('close', () => sessions.delete(session))
  })
  const onRequest: RequestListener = ({ httpVersionMajor, socket }, response) => {
    if (httpVersionMajor !== 1) return
    requestsUnderWay.set(socket, (requestsUnderWay.get(socket) ?? 0) + 1)
    response.once('close', () => {
      const left = (requestsUnderWay.get(socket) ?? 1) - 1
      if (left > 0) requestsUnderWay.set(socket, left)
      else requestsUnderWay.delete(socket)
      if (left === 0 && isClosing) socket.end()
    })
  }
  server.on('request', onRequest)

  const closing = {
    closeIdleConnections() {
      isClosing = true
      const busy = new Set([...sessions].map((session) => session.socket))
      for (const socket of sockets) {
        if (!requestsUnderWay.has(socket) && !busy.has(socket)) socket.end()
      }
    },
    closeHttp2Sessions() {
      for (const session of sessions) session.close()
    },
  }
  return {
    server: Object.assign(server, closing) as unknown as Server,
    destroyConnections() {
      for (const socket of sockets) socket.destroy()
    },
  }
}
