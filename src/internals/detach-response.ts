import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Detaches an upgraded connection from the response that @fastify/websocket made for its request. Otherwise thousands of
 * idle WebSockets would keep their requests in memory. `detachSocket` is not documented. Checked with Node 20.20 and
 * @fastify/websocket 11.3.6.
 */
export function detachResponse(response: ServerResponse, connection: Socket): void {
  response.detachSocket(connection)
}
