import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { WebSocket } from 'ws'

/**
 * Releases the request of an open WebSocket. @fastify/websocket attaches a response to the connection and an error listener
 * to the WebSocket, which would keep the requests of thousands of idle WebSockets in memory. `detachSocket` is not
 * documented. Checked with Node 20.20 and @fastify/websocket 11.3.6.
 */
export function releaseRequest(socket: WebSocket, response: ServerResponse, connection: Socket): void {
  response.detachSocket(connection)
  socket.removeAllListeners('error').on('error', terminate)
}

function terminate(this: WebSocket): void {
  this.terminate()
}
