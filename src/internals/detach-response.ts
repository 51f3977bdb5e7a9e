import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Frees an upgraded connection of the response that @fastify/websocket made for its request: thousands of idle
 * WebSockets would keep their requests. `detachSocket` is not documented. Checked with Node 20.20 and
 * @fastify/websocket 11.3.6.
 */
export function detachResponse(response: ServerResponse, connection: Socket): void {
  response.detachSocket(connection)
}
